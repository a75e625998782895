// `tessera bench`: options and report.
#include "bench.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

#include "args.h"
#include "cli.h"
#include "core/threads.h"
#include "cpu/peak.h"
#include "mul.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

struct BenchArgs {
  std::vector<std::int64_t> sizes;
  std::string ops = "NN";
  std::vector<std::string> kernels;
  int threads = 0;
  std::string dtype = "f32";
  std::string device = "auto";
  double seconds = 1;
  bool json = false;
  std::string json_file;
};

std::vector<BenchShape> shapes_of(const BenchArgs& args) {
  if (args.sizes.size() % 3 != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} sizes: they must come in threes, M N K", args.sizes.size()));
  }
  std::vector<BenchShape> shapes;
  for (std::size_t i = 0; i < args.sizes.size(); i += 3) {
    shapes.push_back({args.sizes[i], args.sizes[i + 1], args.sizes[i + 2]});
  }
  return shapes;
}

double fma_peak(const BenchSettings& settings) {
  return settings.space == Space::kHost ? measure_fma_gflops(settings.dtype, settings.threads) : 0;
}

std::string shape_text(const BenchShape& s) { return fmt::format("{}x{}x{}", s.m, s.n, s.k); }

double gflops(const BenchRow& row, double seconds) { return flops_of(row.shape) / seconds / 1e9; }

void print_row(const BenchRow& row, double peak) {
  const std::string name = row.kernel.empty() ? row.requested : row.kernel;
  if (row.disposition != Disposition::kPassed) {
    fmt::print("{:<18} {:<40} {}: {}\n", shape_text(row.shape), name, to_string(row.disposition),
               row.detail);
    return;
  }
  const double speed = gflops(row, row.median_s());
  fmt::print("{:<18} {:<40} {:>9.1f} {:>9.1f} {:>9.1f} {:>7} {:>8}\n", shape_text(row.shape), name,
             speed, gflops(row, row.max_s()), gflops(row, row.min_s()),
             peak > 0 ? fmt::format("{:.1f}%", 100 * speed / peak) : "-", row.seconds.size());
}

Json row_json(const BenchRow& row, double peak) {
  Json json{{"m", row.shape.m}, {"n", row.shape.n}, {"k", row.shape.k}};
  json["requested"] = row.requested;
  json["kernel"] = row.kernel.empty() ? Json(nullptr) : Json(row.kernel);
  json["disposition"] = to_string(row.disposition);
  if (row.disposition != Disposition::kPassed) {
    json["detail"] = row.detail;
    return json;
  }
  json["median_s"] = row.median_s();
  json["min_s"] = row.min_s();
  json["max_s"] = row.max_s();
  json["samples"] = row.seconds.size();
  json["products_per_sample"] = row.products_per_sample;
  json["gflops"] = gflops(row, row.median_s());
  if (peak > 0) json["of_fma_peak"] = gflops(row, row.median_s()) / peak;
  return json;
}

Json conditions_json(const BenchArgs& args, const BenchSettings& settings, const DeviceInfo& device,
                     double peak) {
  Json json;
  json["device"] = {{"kind", settings.space == Space::kHost ? "cpu" : "cuda"},
                    {"name", device.name},
                    {"index", device.index}};
  if (settings.space == Space::kHost) {
    json["device"]["simd"] = device.simd;
    json["device"]["threads"] = settings.threads;
    json["fma_peak_gflops"] = peak;
  }
  json["dtype"] = to_string(settings.dtype);
  json["ops"] = args.ops;
  json["alpha"] = 1;
  json["beta"] = 0;
  json["data"] = "random normal, mean 0, variance 1";
  json["cache"] = "warm";
  json["timer"] = settings.space == Space::kHost ? "steady clock" : "CUDA events";
  json["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return json;
}

void print_heading(const BenchArgs& args, const BenchSettings& settings, const DeviceInfo& device,
                   double peak) {
  fmt::print("{}; {}; {} {}; random normal data, warm caches\n", version_line(), compiler_text(),
             args.dtype, args.ops);
  if (settings.space == Space::kHost) {
    fmt::print("cpu: {}, {}, {} thread{}; FMA peak {:.1f} GFLOP/s, measured in this run\n",
               device.name, device.simd, settings.threads, settings.threads == 1 ? "" : "s", peak);
  } else {
    fmt::print("cuda:{}: {}; timed by events\n", device.index, device.name);
  }
  if (!slow_build_reason().empty()) fmt::print("{}: times mean little\n", slow_build_reason());
  fmt::print("{:<18} {:<40} {:>9} {:>9} {:>9} {:>7} {:>8}\n", "m x n x k", "kernel", "GFLOP/s",
             "slowest", "fastest", "of peak", "samples");
}

void write_json(const Json& json, const std::string& path) {
  std::ofstream file(path);
  file << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) {
    throw Error(ErrorCode::kOutputFailure,
                fmt::format("--json-file {} could not be written: {}", path,
                            std::system_category().message(errno)));
  }
}

/// One kernel that is wrong or died makes the run a failed check; one that cannot take the problem
/// makes it one that cannot run here.
int exit_code(const std::vector<BenchRow>& rows) {
  const auto count = [&](Disposition d) {
    return std::count_if(rows.begin(), rows.end(),
                         [d](const BenchRow& row) { return row.disposition == d; });
  };
  const auto wrong = count(Disposition::kIncorrect) + count(Disposition::kFailed);
  if (wrong > 0) {
    throw CheckFailed(fmt::format(
        "{} of {} runs failed or gave a wrong product; they have no speed", wrong, rows.size()));
  }
  const auto refused = count(Disposition::kNotSupported);
  if (refused > 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} of {} runs: the kernel named cannot take the problem", refused,
                            rows.size()));
  }
  return kOk;
}

int run_bench(BenchArgs args) {
  const std::vector<BenchShape> shapes = shapes_of(args);
  if (args.kernels.empty()) args.kernels = {"auto"};
  BenchSettings settings;
  settings.op_a = op_of(args.ops[0] == 'T');
  settings.op_b = op_of(args.ops[1] == 'T');
  settings.dtype = parse_dtype(args.dtype);
  settings.seconds = args.seconds;
  const DeviceChoice choice = choose_device(args.device, args.kernels.front(), settings.dtype);
  settings.space = choice.space;
  settings.device = choice.index;
  settings.threads = choice.space == Space::kHost ? resolve_threads(args.threads) : 1;

  double peak = fma_peak(settings);
  std::vector<BenchRow> rows;
  for (const BenchShape& shape : shapes) {
    const std::vector<BenchRow> found = bench_shape(shape, args.kernels, settings);
    rows.insert(rows.end(), found.begin(), found.end());
  }
  // Once more: another program may have slowed the first measurement, which would flatter.
  peak = std::max(peak, fma_peak(settings));

  Json json = conditions_json(args, settings, choice.info(), peak);
  json["results"] = Json::array();
  for (const BenchRow& row : rows) json["results"].push_back(row_json(row, peak));
  json["provenance"] = provenance();
  if (args.json) {
    print_json(json);
  } else {
    print_heading(args, settings, choice.info(), peak);
    for (const BenchRow& row : rows) print_row(row, peak);
  }
  if (!args.json_file.empty()) write_json(json, args.json_file);
  return exit_code(rows);
}

}  // namespace

Verb add_bench(CLI::App& root) {
  CLI::App* app = root.add_subcommand("bench", "time kernels, each verified before and after");
  const auto args = std::make_shared<BenchArgs>();
  app->add_option("SIZES", args->sizes, "M N K, once or several times")
      ->type_name("M N K ...")
      ->required()
      ->expected(3, 3000)
      ->check(decimal_fault)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app->add_option("--ops", args->ops, "op(A) op(B) (default NN)")
      ->check(CLI::IsMember(std::vector<std::string>{"NN", "NT", "TN", "TT"}));
  app->add_option("--kernel", args->kernels, "kernels to time; may be repeated (default: auto)")
      ->type_name("KERNEL")
      ->allow_extra_args(false);
  add_threads(*app, args->threads);
  app->add_option("--dtype", args->dtype, "element type (default f32)")
      ->check(CLI::IsMember(std::vector<std::string>{"f32", "f64"}));
  add_device(*app, args->device);
  app->add_option("--seconds", args->seconds, "timed seconds for each kernel and shape (default 1)")
      ->type_name("S")
      ->check(CLI::Range(0.0, 3600.0));
  app->add_flag("--json", args->json, "report as one JSON object");
  add_file(*app, "--json-file", args->json_file, "also write that object to a file");
  app->footer(
      "Median, slowest and fastest of at least five samples; kernels take turns. A run that fails\n"
      "or is wrong shows that and no speed (exit 5).\n\n"
      "Examples:\n"
      "  tessera bench 1024 1024 1024\n"
      "  tessera bench 512 512 512 1000 1001 1003 --kernel auto --kernel cpu.naive --threads 1\n"
      "  tessera bench 4096 4096 64 --ops NT --dtype f64 --seconds 3 --json\n");
  return {app, [args] { return run_bench(*args); }};
}

}  // namespace tessera::cli
