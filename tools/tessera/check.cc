// `tessera check`: faults in a CUDA kernel, found without a GPU.
#include "simt/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "check_args.h"
#include "cli.h"
#include "io/tensor.h"
#include "quantities.h"
#include "simt/gpu/image.h"
#include "simt/gpu/trial.h"
#include "simt/report/cubin.h"
#include "simt/report/json_text.h"
#include "simt/source/compile.h"
#include "tessera/error.h"
#include "text_file.h"

namespace tessera::cli {
namespace {

void parse_gemm(CheckArgs& args) {
  if (args.gemm.empty()) return;
  long long m = 0, n = 0, k = 0;
  char rest = 0;
  if (std::sscanf(args.gemm.c_str(), "%lld,%lld,%lld%c", &m, &n, &k, &rest) != 3 || m < 1 ||
      n < 1 || k < 1 || m > 1 << 20 || n > 1 << 20 || k > 1 << 20) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("check: --gemm {}: give M,N,K, each from 1 to 1048576", args.gemm));
  }
  args.options.driver.m = m, args.options.driver.n = n, args.options.driver.k = k;
  args.options.as_lone_kernel = true;
}

/// Also of files that are not there yet.
bool are_same(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return io::same_file(a, b) || std::filesystem::weakly_canonical(a, ignored) ==
                                    std::filesystem::weakly_canonical(b, ignored);
}

/// Refused before a long run, not after it, and before the source is written over.
void check_outputs(const CheckArgs& args) {
  struct Output {
    const char* option;
    const std::string& file;
  };
  const Output outputs[] = {
      {"--html", args.html}, {"--sarif", args.sarif}, {"--gpu-image", args.gpu_image}};
  std::vector<Output> others = {{"FILE", args.options.path}};
  for (const std::string& flag : args.options.flags) {
    if (simt::is_source(flag)) others.push_back({"the source", flag});
  }
  for (const Output& output : outputs) {
    if (output.file.empty()) continue;
    for (const Output& other : others) {
      if (!are_same(output.file, other.file)) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("check: {} {} is the same file as {} {}; they must differ",
                              output.option, output.file, other.option, other.file));
    }
    others.push_back(output);
  }
  for (const Output& output : outputs) check_output_file(output.file);
}

/// A compiler's message has lines of its own, which matter; only what could drive the terminal
/// goes.
int report_lines(const Error& error, const std::string& message) {
  std::string text;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F)) text += c;
  }
  fmt::print(stderr, "tessera check: {}\n", text);
  return exit_code_of(error.code());
}

/// The program's own name for the verb stands before every message already.
std::string without_verb(const std::string& message) {
  constexpr char kVerb[] = "check: ";
  return message.rfind(kVerb, 0) == 0 ? message.substr(sizeof kVerb - 1) : message;
}

void finish(CheckArgs& args) {
  parse_gemm(args);
  check_outputs(args);
  simt::CheckOptions& o = args.options;
  if (!o.driver.kernel.empty()) o.as_lone_kernel = true;
  if (o.driver.column_major() && args.gpu) {
    throw Error(ErrorCode::kInvalidArgument,
                "check: --layout col: --gpu compares row-major matrices only");
  }
  o.count = !args.no_count;
  o.use_nvcc = !args.no_nvcc;
  const std::string& words = args.program_arguments;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (end != at) o.arguments.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  o.output = args.quiet  ? simt::RunOptions::Output::kNowhere
             : args.json ? simt::RunOptions::Output::kStderr
                         : simt::RunOptions::Output::kStdout;
}

int check_program(const CheckArgs& args) {
  simt::CheckOptions options = args.options;
  options.keep_products = args.gpu;
  std::optional<simt::GpuTrial> trial;
  if (args.gpu) trial.emplace();
  simt::CheckedProgram program(options);
  if (args.gpu) simt::image_source(program);  // refused before a long run, not after it
  const simt::Report report = program.run();
  std::optional<simt::GpuReport> gpu;
  if (trial) {
    gpu = trial->run(program, {{program.sizes(), report.check.findings}}, program.sizes());
  }
  write_reports(args, report);
  if (args.json) {
    Json json = simt::json_report(report);
    if (gpu) json["gpu"] = simt::json_safe(simt::to_json(*gpu));
    print_json(json);
  } else if (!args.quiet) {
    fmt::print("{}", simt::text_report(report, colour_allowed()));
    if (gpu) fmt::print("\n{}", simt::to_text(*gpu));
  }
  if (report.failed() || (gpu && gpu->failed())) return kCheckerFault;
  return args.fail_on == "warning" && !simt::warnings(report).empty() ? kCheckerFault : kOk;
}

int run_check(CheckArgs args) {
  if (args.exercise_is_given && !args.options.path.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("check: --exercise {} writes files and takes no FILE; to judge an "
                            "answer leave it out",
                            args.exercise));
  }
  if (args.exercise_is_given) return write_exercise(args);
  if (args.options.path.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "check: FILE is missing: a CUDA source, or --exercise DIR");
  }
  finish(args);
  if (!args.gpu_image.empty()) return write_gpu_image(args);
  return is_answer(args) ? judge_answer(args) : check_program(args);
}

std::string not_empty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

std::string at_least_one(const std::string& text) {
  std::uint64_t number = 0;
  const bool is_number = CLI::detail::lexical_cast(text, number);
  return is_number && number > 0 ? "" : fmt::format("{}: must be a number from 1 on", text);
}

std::string seconds(const std::string& text) {
  double number = 0;
  // Not the other way round: of nan no comparison holds.
  const bool fits = CLI::detail::lexical_cast(text, number) && number >= 0.1 && number <= 1e6;
  return fits ? "" : fmt::format("{}: must be a number of seconds from 0.1 to 1000000", text);
}

std::string architecture(const std::string& text) {
  if (simt::is_architecture(text)) return "";
  return fmt::format("{}: must be like sm_90, and at least sm_50", text);
}

}  // namespace

void write_reports(const CheckArgs& args, const simt::Report& report) {
  if (!args.html.empty()) write_text_file(args.html, simt::html_report(report));
  if (!args.sarif.empty()) write_text_file(args.sarif, simt::sarif_report(report).dump(2) + "\n");
}

int write_gpu_image(const CheckArgs& args) {
  const std::string nvcc = simt::find_nvcc();
  if (nvcc.empty()) {
    throw Error(ErrorCode::kUnsupported,
                "check: --gpu-image: no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda");
  }
  simt::CheckOptions options = args.options;
  if (is_answer(args)) options.as_lone_kernel = true;
  const simt::CheckedProgram program(options);
  simt::build_image(nvcc, simt::image_source(program), options.architecture, program.folder(),
                    args.gpu_image);
  if (!args.quiet) fmt::print("{}\n", printable(args.gpu_image));
  return kOk;
}

Verb add_check(CLI::App& root) {
  auto args = std::make_shared<CheckArgs>();
  CLI::App* app = root.add_subcommand(
      "check", "Run a CUDA program on the CPU and report races, overruns and slow accesses");
  simt::CheckOptions& o = args->options;
  app->add_option("FILE", o.path,
                  "CUDA source: a program with main, a kernel, or an answer to the exercise");
  app->add_option("FLAGS", o.flags, "flags for the compiler, behind --: -I, -D, -std, libraries");
  app->add_option("--kernel", o.driver.kernel, "kernel to run: tiled, or tiled<16>")
      ->check(not_empty);
  app->add_option("--gemm", args->gemm, "sizes M,N,K of the product that the kernel is run on")
      ->check(not_empty);
  app->add_option("--block", o.driver.block, "threads of a block: x,y (default: derived)")
      ->check(not_empty);
  app->add_option("--grid", o.driver.grid,
                  "blocks, in terms of M, N, K: ceil(N/16),ceil(M/16) (default: derived)")
      ->check(not_empty);
  app->add_option("--shared", o.driver.shared, "dynamic shared memory of a launch, in bytes")
      ->check(not_empty);
  app->add_option(
         "--roles", o.driver.roles,
         "what the kernel's arguments are, in order: A,B,C,M,N,K,lda,ldb,ldc,alpha,beta, or "
         "name=NUMBER")
      ->check(not_empty);
  app->add_option("--layout", o.driver.layout,
                  "of the matrices that a kernel is run on: row, or col as in BLAS (default: row)")
      ->check(CLI::IsMember({"row", "col"}));
  app->add_option("--run", args->program_arguments, "arguments for a program with main");
  app->add_option("--exercise", args->exercise,
                  "write the exercise, a tiled kernel with four blanks, into a folder");
  app->add_flag("--gpu", args->gpu,
                "also run the kernel on the GPU, and time it beside the rungs and cuBLAS");
  // For a machine with a GPU and without nvcc, which TESSERA_CHECK_GPU_IMAGE then names it to.
  app->add_option("--gpu-image", args->gpu_image, "only compile the kernel for --gpu elsewhere")
      ->group("");
  app->add_flag("--json", args->json, "print the report as JSON");
  app->add_option("--html", args->html, "write the source with its findings and counts to a file")
      ->check(not_empty);
  app->add_option("--sarif", args->sarif, "write a SARIF file for code review")->check(not_empty);
  app->add_option("--fail-on", args->fail_on, "finding, or warning: what makes the exit code 6")
      ->check(CLI::IsMember({"finding", "warning"}));
  app->add_flag("--no-count", args->no_count, "only look for faults; count no accesses");
  app->add_flag("--no-nvcc", args->no_nvcc, "take access widths from the source");
  app->add_option("--arch", o.architecture, "architecture for registers and occupancy")
      ->check(architecture)
      ->capture_default_str();
  app->add_option("--workers", o.workers, "threads of the executor (default: the cores)")
      ->check(CLI::Range(0, 256));
  app->add_option("--time-limit", o.time_limit_s, "seconds for the program")
      ->check(seconds)
      ->capture_default_str();
  app->add_option("--step-limit", o.thread_accesses, "accesses of one thread")
      ->check(at_least_one)
      ->capture_default_str();
  app->add_option("--max-accesses", o.max_accesses,
                  "watched accesses, about; with more, only some blocks are checked")
      ->check(at_least_one)
      ->capture_default_str();
  app->add_flag("-q,--quiet", args->quiet, "print nothing");
  app->footer(
      "Exit codes: 0 no fault, 6 a fault, 2 usage, 3 the file cannot be read, 4 it cannot be "
      "compiled or run.\nSlow accesses are warnings. See docs/checker.md and docs/exercise.md.");
  return {app, [app, args] {
            try {
              args->exercise_is_given = app->count("--exercise") > 0;
              return run_check(*args);
            } catch (const Error& error) {
              const std::string message = without_verb(error.what());
              if (message.find('\n') == std::string::npos) throw Error(error.code(), message);
              return report_lines(error, message);
            }
          }};
}

}  // namespace tessera::cli
