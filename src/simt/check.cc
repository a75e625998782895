#include "simt/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "simt/report/cubin.h"
#include "simt/source/compile.h"
#include "simt/source/translate.h"
#include "simt/source/words.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (std::filesystem::is_directory(path) || !in || !(text << in.rdbuf())) {
    if (in && std::filesystem::is_regular_file(path) && std::filesystem::file_size(path) == 0) {
      return "";
    }
    throw Error(ErrorCode::kBadFile, fmt::format("check: cannot read {}", path));
  }
  return text.str();
}

void refuse(const std::vector<Refusal>& refusals) {
  if (refusals.empty()) return;
  std::string message = "check: this program asks for what the executor cannot do";
  for (const Refusal& r : refusals) {
    message += fmt::format("\n  {}:{}: {}: {}", r.file, r.line, r.what, r.why);
  }
  throw Error(ErrorCode::kUnsupported, message);
}

/// What does not compile cannot be run.
Translation translated(const Source& source, const TemporaryFolder& folder) {
  try {
    return read_source(source, folder);
  } catch (const Error& error) {
    throw Error(ErrorCode::kUnsupported, error.what());
  }
}

std::string compiled(const Translation& program, const Source& source, Build build,
                     const TemporaryFolder& folder) {
  try {
    return compile(program, source, build, folder);
  } catch (const Error& error) {
    throw Error(ErrorCode::kUnsupported, error.what());
  }
}

/// The source as nvcc gets it: with the driver behind it, which instantiates a template.
struct NvccSource {
  std::string path;
  std::vector<std::string> flags;
};
NvccSource nvcc_source(const CheckOptions& options, const std::string& source,
                       const std::string& appended, const std::string& folder) {
  if (appended.empty()) return {options.path, options.flags};
  const std::filesystem::path own = std::filesystem::path(folder) / "nvcc";
  std::filesystem::create_directories(own);
  for (const Word& word : words()) {
    if (word.name == "simt_drive.h") std::ofstream(own / word.name) << word.text;
  }
  NvccSource result{(own / "kernel.cu").string(), options.flags};
  std::ofstream out(result.path);
  const auto full = std::filesystem::absolute(options.path);
  out << fmt::format("#line 1 \"{}\"\n", full.string()) << source << "\n" << appended;
  result.flags.push_back("-I" + full.parent_path().string());
  result.flags.push_back("-I" + own.string());
  return result;
}

/// As the run needs them.
std::vector<LineWidth> line_widths(const Cubin& cubin) {
  std::vector<LineWidth> widths;
  for (const CompiledWidths& w : cubin.widths) {
    widths.push_back({w.file, w.line, w.is_shared, w.is_write, w.bytes});
  }
  return widths;
}

/// "tiled<16>" of "ns::tiled<16>", without blanks.
std::string last_part(const std::string& kernel) {
  std::string name;
  int depth = 0;
  for (const char c : kernel) {
    if (c == ' ') continue;
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ':' && depth == 0) {
      name.clear();
    } else {
      name += c;
    }
  }
  return name;
}

/// "tiled" of --kernel 'ns::tiled<16>'.
std::string named_kernel(const CheckOptions& options) {
  std::string name = base_name(options.driver.kernel);
  std::erase(name, ' ');
  return name;
}

/// The compiled kernels that were launched, with their occupancy.
void add_compiled(Report& report, const Cubin& cubin) {
  for (Compiled kernel : cubin.kernels) {
    for (const Launch& launch : report.check.launches) {
      if (last_part(kernel.kernel) != last_part(launch.kernel)) continue;
      const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
      add_occupancy(kernel, static_cast<int>(threads),
                    static_cast<std::int64_t>(launch.dynamic_shared_bytes));
      report.compiled.push_back(kernel);
      break;
    }
  }
}

}  // namespace

Report check(const CheckOptions& options) {
  const double start = now_s();
  Report report;
  report.path = options.path;
  report.source = read_file(options.path);

  TemporaryFolder folder;
  Source source{options.path, options.flags, "", options.as_lone_kernel, named_kernel(options)};
  Translation program = translated(source, folder);
  if (!program.has_main && !source.is_lone_kernel) {
    source.is_lone_kernel = true;
    if (!program.refusals.empty()) program = translated(source, folder);
  }
  refuse(program.refusals);

  RunOptions run_options;
  run_options.source_path = options.path;
  run_options.words_folder = folder.path();
  run_options.arguments = options.arguments;
  run_options.time_limit_s = options.time_limit_s;
  run_options.max_accesses = options.max_accesses;
  run_options.limits.thread_accesses = options.thread_accesses;
  run_options.limits.block_s = std::max(1.0, options.time_limit_s / 3);

  if (!program.has_main || options.as_lone_kernel) {
    DriverOptions wanted = options.driver;
    if (wanted.m == 0) {
      wanted.m = kDefaultM, wanted.n = kDefaultN, wanted.k = kDefaultK;
      report.notes.push_back(fmt::format("sizes M,N,K = {},{},{} were chosen; --gemm sets them",
                                         kDefaultM, kDefaultN, kDefaultK));
    }
    const Driver driver = make_driver(program, wanted);
    source.appended = driver.text;
    program = translated(source, folder);
    refuse(program.refusals);
    report.how = driver.how;
    if (!driver.grid_note.empty()) report.notes.push_back(driver.grid_note);
    run_options.has_drive = true;
    DriveSizes& d = run_options.drive;
    d.m = wanted.m, d.n = wanted.n, d.k = wanted.k;
    d.element = driver.roles.element;
    d.c_is_read = driver.roles.c_is_read;
    const auto has = [&](Role role) {
      return std::find(driver.roles.roles.begin(), driver.roles.roles.end(), role) !=
             driver.roles.roles.end();
    };
    if (has(Role::kAlpha)) d.alpha = 1.5;
    d.element_c = driver.roles.element_c;
    d.has_d = has(Role::kD);
    if (has(Role::kBeta)) {
      d.beta = -0.75;
    } else if (d.c_is_read) {
      d.beta = 1;
    }
    d.kernel = driver.kernel;
    d.place = driver.place();
  }

  // The compilers run side by side.
  std::future<Cubin> cubin_task;
  const std::string nvcc = options.use_nvcc && options.count ? find_nvcc() : "";
  if (!nvcc.empty()) {
    cubin_task = std::async(std::launch::async, [&] {
      const NvccSource in = nvcc_source(options, report.source, source.appended, folder.path());
      return compile_cubin(nvcc, in.path, in.flags, options.architecture, folder.path());
    });
  }
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  // What blocks tell each other through atomics depends on their order.
  const int workers = program.talks_between_blocks ? 1
                      : options.workers > 0        ? options.workers
                                                   : std::max(1, cores / (options.count ? 2 : 1));
  run_options.workers = workers;

  std::future<RunResult> count_task;
  Cubin cubin;
  if (options.count) {
    count_task = std::async(std::launch::async, [&, run_options]() mutable {
      run_options.image = compiled(program, source, Build::kCount, folder);
      run_options.watch = {false, true};
      run_options.output = RunOptions::Output::kNowhere;
      if (cubin_task.valid()) {
        try {
          cubin = cubin_task.get();
          run_options.widths = line_widths(cubin);
        } catch (const Error& error) {
          const std::string why = error.what();
          report.notes.push_back("nvcc did not compile it, so accesses have the source's widths: " +
                                 why.substr(0, why.find('\n')));
        }
      }
      return run(run_options);
    });
  }
  std::exception_ptr failure;
  try {
    run_options.image = compiled(program, source, Build::kCheck, folder);
    run_options.watch = {true, false};
    run_options.output = options.output;
    report.check = run(run_options);
  } catch (...) {
    failure = std::current_exception();
  }
  if (count_task.valid()) {
    try {
      report.count = count_task.get();
    } catch (const Error& error) {
      if (!failure)
        report.notes.push_back(fmt::format("accesses were not counted: {}", error.what()));
    }
  }
  if (failure) std::rethrow_exception(failure);
  add_compiled(report, cubin);
  if (report.check.launches.empty() && report.check.findings.empty()) {
    report.notes.push_back("no kernel was launched");
  }
  report.elapsed_s = now_s() - start;
  return report;
}

}  // namespace tessera::simt
