// `tessera ladder`: every rung on this machine, next to the peers, with the reason for each step.
#include <fmt/format.h>

#include <algorithm>

#include "args.h"
#include "bench_session.h"
#include "quantities.h"
#include "tessera/error.h"
#include "text_file.h"

namespace tessera::cli {
namespace {

using bench::Disposition;
using bench::Row;

struct LadderArgs {
  std::int64_t n = 0;
  std::string device = "auto";
  std::vector<std::string> peers;
  int threads = 0;
  double seconds = 0.5;
  bool json = false;
  std::string json_file;
};

/// Stems of the FP32 kernels of a backend that are made for square products, in order: each file
/// is a rung.
std::vector<std::string> rungs_of(const std::string& backend) {
  std::vector<std::string> stems;
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != backend || kernel.id.dtype != DType::kF32) continue;
    if (!kernel.is_rung) continue;
    if (stems.empty() || stems.back() != kernel.stem) stems.push_back(kernel.stem);
  }
  return stems;
}

const Kernel& kernel_named(const std::string& name) {
  const auto& kernels = registry().kernels();
  return *std::find_if(kernels.begin(), kernels.end(),
                       [&](const Kernel& k) { return k.answers_to(name); });
}

std::string why(const std::string& rung) {
  const Kernel& kernel = kernel_named(rung);
  return kernel.why.empty() ? kernel.summary : kernel.why;
}

void print_ladder(const bench::RunReport& report, const std::vector<Row>& rows) {
  fmt::print("  {:<20} {:>9} {:>9} {:>8} {:>8} {:>9}", "", "time", "GFLOP/s", "of peak", "of roof",
             "step");
  for (const bench::PeerInfo& peer : report.peers) fmt::print(" {:>9}", "/" + peer.name);
  fmt::print("\n");
  double before_s = 0;
  for (const Row& row : rows) {
    if (row.disposition != Disposition::kPassed) {
      fmt::print("  {:<20} {}: {}\n", row.requested, to_string(row.disposition),
                 printable(row.detail));
      continue;
    }
    const double s = row.median_s();
    const double gflops = bench::flops_of(row.what) / s / 1e9;
    const std::string step =
        before_s > 0 && !row.is_peer ? fmt::format("x {:.2f}", before_s / s) : "";
    fmt::print("  {:<20} {:>9} {:>9.4g} {:>7.1f}% {:>7.1f}% {:>9}", row.requested,
               format_seconds(s), gflops, 100 * gflops / report.roofs.fma(row.what.desc.dtype),
               100 * bench::bound_of(row.what, row.cache, report.roofs).seconds / s, step);
    for (const bench::PeerInfo& peer : report.peers) {
      const double ratio = peer.name == row.requested ? 0 : ratio_to(report, row, peer.name);
      fmt::print(" {:>9}", ratio > 0 ? fmt::format("{:.2f}x", ratio) : "");
    }
    fmt::print("\n");
    if (row.is_peer) continue;
    fmt::print("      {}{}\n", why(row.requested),
               row.kernel.empty() ? "" : " (" + row.kernel + ")");
    before_s = s;
  }
}

bool is_peer_of(Space space, const std::string& name) {
  const std::vector<std::string> names = bench::peer_names(space);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of the peers asked for, those that can stand beside a backend. A name that is no peer's stays
/// and is refused.
std::vector<std::string> peers_beside(const std::string& backend,
                                      const std::vector<std::string>& asked) {
  if (asked.empty()) return {"all"};
  const Space other = backend == "cpu" ? Space::kCuda : Space::kHost;
  std::vector<std::string> peers = asked;
  std::erase_if(peers, [&](const std::string& name) { return is_peer_of(other, name); });
  return peers.empty() ? std::vector<std::string>{"none"} : peers;
}

/// All rungs of one backend on one cubic product.
std::unique_ptr<BenchSession> climb(const LadderArgs& args, const std::string& backend,
                                    std::int64_t n) {
  SessionOptions options;
  options.device = backend == "cpu" ? "cpu" : args.device == "auto" ? "cuda" : args.device;
  options.kernels = rungs_of(backend);
  options.peers = peers_beside(backend, args.peers);
  options.threads = args.threads;
  options.seconds = args.seconds;
  auto session = std::make_unique<BenchSession>("ladder", options);
  const bench::Case c = bench::dense_case(Op::kN, Op::kN, n, n, n, DType::kF32);
  if (!args.json) {
    print_conditions(*session, session->report());
    fmt::print("\n{}; {}\n", case_text(c), "warm");
    std::fflush(stdout);
  }
  session->run(c, bench::CacheState::kWarm);
  session->finish();
  if (!args.json) print_ladder(session->report(), session->report().rows);
  return session;
}

Json rows_json(const bench::RunReport& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows) {
    Json json = row_json(report, row);
    if (!row.is_peer) {
      json["rung"] = row.requested;
      json["why"] = why(row.requested);
    }
    rows.push_back(std::move(json));
  }
  return rows;
}

int run_ladder(LadderArgs args) {
  constexpr std::int64_t kMostOnCpu = 512;  // the naive kernel is to end while somebody waits
  check_output_file(args.json_file);
  const bool wants_cuda = args.device != "cpu";
  const bool has_cuda = wants_cuda && !cuda_devices().empty();
  if (wants_cuda && !has_cuda && args.device != "auto") {
    throw Error(ErrorCode::kNoDevice, "device " + args.device + ": " + cuda_unavailable_reason());
  }
  const std::int64_t n = args.n > 0 ? args.n : has_cuda ? 4096 : kMostOnCpu;
  std::unique_ptr<BenchSession> gpu, cpu;
  if (has_cuda) gpu = climb(args, "cuda", n);
  if (!args.json) {
    if (!has_cuda && wants_cuda) {
      fmt::print("no GPU rungs: {}\n", cuda_unavailable_reason());
    }
    fmt::print("{}", has_cuda ? "\nThe same idea on the CPU: tiles kept in cache instead of shared "
                                "memory.\n"
                              : "");
  }
  cpu = climb(args, "cpu", has_cuda ? std::min(n, kMostOnCpu) : n);
  for (const std::string& name : args.peers) {
    if (has_cuda || !is_peer_of(Space::kCuda, name)) continue;
    cpu->leave_out(fmt::format("peer {}: it runs beside rungs on a GPU only", name), kCannotRun);
  }

  Json json = report_json(gpu ? gpu->report() : cpu->report());
  json["results"] = rows_json(gpu ? gpu->report() : cpu->report());
  if (gpu) {
    json["cpu"] = report_json(cpu->report());
    json["cpu"].erase("results");
    json["cpu_results"] = rows_json(cpu->report());
  }
  if (args.json) print_json(json);
  if (!args.json_file.empty()) write_json_file(args.json_file, json);
  if (gpu) gpu->judge();
  cpu->judge();
  return kOk;
}

}  // namespace

Verb add_ladder(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("ladder", "every rung on this machine, from naive to the best, and why");
  const auto args = std::make_shared<LadderArgs>();
  app->add_option("-n,--size", args->n,
                  "of the square matrices (default 4096 on a GPU, 512 on the CPU)")
      ->type_name("N")
      ->check(decimal_fault)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  add_device(*app, args->device);
  app->add_option("--peer", args->peers, "libraries to compare with (default: all that are there)")
      ->type_name("PEER")
      ->allow_extra_args(false);
  add_threads(*app, args->threads);
  add_seconds(*app, args->seconds, "timed seconds for each rung, at most (default 0.5)");
  app->add_flag("--json", args->json, "report as one JSON object");
  add_file(*app, "--json-file", args->json_file, "also write that object to a file");
  app->footer(
      "Each kernel file made for square products is a rung; of its configurations, the one "
      "predicted to be fastest runs.\n"
      "Rows are measured and verified as by tessera bench.\n\n"
      "Examples:\n"
      "  tessera ladder\n"
      "  tessera ladder -n 2048 --json-file ladder.json; tessera report ladder.json -o pictures\n");
  return {app, [args] { return run_ladder(*args); }};
}

}  // namespace tessera::cli
