// The exercise: written, and judged.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "check_args.h"
#include "cli.h"
#include "quantities.h"
#include "simt/exercise/examine.h"
#include "simt/gpu/trial.h"
#include "simt/report/json_text.h"

namespace tessera::cli {
namespace {

/// Large enough for the rungs to differ.
constexpr simt::Sizes kTimed = {1024, 1024, 1024};

simt::GpuReport try_on_gpu(const simt::GpuTrial& trial, const simt::CheckedProgram& program,
                           const simt::Examination& examination) {
  std::vector<simt::ExecutorRun> runs;
  for (const simt::SizeRun& run : examination.runs) {
    runs.push_back({{run.m, run.n, run.k}, run.run.findings});
  }
  return trial.run(program, runs, kTimed);
}

}  // namespace

int write_exercise(const CheckArgs& args) {
  const std::vector<std::string> paths = simt::write_exercise(args.exercise);
  if (args.json) {
    print_json({{"written", paths}});
  } else if (!args.quiet) {
    for (const std::string& path : paths) fmt::print("{}\n", printable(path));
    fmt::print("Fill in the four blanks, then: tessera check {}\n", printable(paths[0]));
  }
  return kOk;
}

bool is_answer(const CheckArgs& args) {
  if (!args.gemm.empty() || !args.options.driver.kernel.empty()) return false;
  std::error_code ignored;  // a file that cannot be read is no answer, and is refused as a program
  if (!std::filesystem::is_regular_file(args.options.path, ignored)) return false;
  std::ifstream in(args.options.path, std::ios::binary);
  return simt::is_exercise({std::istreambuf_iterator<char>(in), {}});
}

int judge_answer(const CheckArgs& args) {
  simt::CheckOptions options = args.options;
  options.as_lone_kernel = true;
  options.keep_products = args.gpu;
  std::optional<simt::GpuTrial> trial;
  if (args.gpu) trial.emplace();
  simt::CheckedProgram program(options);
  const simt::Examination examination = simt::examine(program);
  std::optional<simt::GpuReport> gpu;
  if (trial) gpu = try_on_gpu(*trial, program, examination);

  write_reports(args, examination.report);
  if (args.json) {
    Json json = simt::json_report(examination.report);
    json["verdict"]["failed"] = !examination.verdict.solved;
    json["exercise"] = simt::json_safe(simt::to_json(examination));
    if (gpu) json["gpu"] = simt::json_safe(simt::to_json(*gpu));
    print_json(json);
  } else if (!args.quiet) {
    fmt::print("{}", simt::to_text(examination));
    if (gpu) fmt::print("\n{}", simt::to_text(*gpu));
  }
  const bool failed = !examination.verdict.solved || (gpu && gpu->failed());
  if (failed) return kCheckerFault;
  return args.fail_on == "warning" && !simt::warnings(examination.report).empty() ? kCheckerFault
                                                                                  : kOk;
}

}  // namespace tessera::cli
