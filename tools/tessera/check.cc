// `tessera check`: faults in a CUDA kernel, found without a GPU.
#include "simt/check.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli.h"
#include "quantities.h"
#include "tessera/error.h"
#include "text_file.h"

namespace tessera::cli {
namespace {

struct CheckArgs {
  simt::CheckOptions options;
  std::string gemm, html, sarif, fail_on = "finding", program_arguments;
  bool json = false, quiet = false, no_count = false, no_nvcc = false;
};

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

/// A compiler's message has lines of its own, which matter; only what could drive the terminal
/// goes.
int report_lines(const Error& error) {
  std::string text;
  for (const char c : std::string(error.what())) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F)) text += c;
  }
  fmt::print(stderr, "tessera: {}\n", text);
  return exit_code_of(error.code());
}

int run_check(CheckArgs args) {
  parse_gemm(args);
  if (!args.options.driver.kernel.empty()) args.options.as_lone_kernel = true;
  args.options.count = !args.no_count;
  args.options.use_nvcc = !args.no_nvcc;
  for (std::size_t at = 0; at < args.program_arguments.size();) {
    const std::size_t end =
        std::min(args.program_arguments.find(' ', at), args.program_arguments.size());
    if (end != at) args.options.arguments.push_back(args.program_arguments.substr(at, end - at));
    at = end + 1;
  }
  args.options.output = args.quiet  ? simt::RunOptions::Output::kNowhere
                        : args.json ? simt::RunOptions::Output::kStderr
                                    : simt::RunOptions::Output::kStdout;
  const simt::Report report = simt::check(args.options);
  if (!args.html.empty()) write_text_file(args.html, simt::html_report(report));
  if (!args.sarif.empty()) write_text_file(args.sarif, simt::sarif_report(report).dump(2) + "\n");
  if (args.json) {
    print_json(simt::json_report(report));
  } else if (!args.quiet) {
    fmt::print("{}", simt::text_report(report, colour_allowed()));
  }
  if (report.failed()) return kCheckerFault;
  return args.fail_on == "warning" && !simt::warnings(report).empty() ? kCheckerFault : kOk;
}

}  // namespace

Verb add_check(CLI::App& root) {
  auto args = std::make_shared<CheckArgs>();
  CLI::App* app = root.add_subcommand(
      "check", "Run a CUDA program on the CPU and report races, overruns and slow accesses");
  simt::CheckOptions& o = args->options;
  app->add_option("FILE", o.path, "CUDA source: a program with main, or a kernel")->required();
  app->add_option("FLAGS", o.flags, "flags for the compiler, behind --: -I, -D, -std, libraries");
  app->add_option("--kernel", o.driver.kernel, "kernel to run: tiled, or tiled<16>");
  app->add_option("--gemm", args->gemm, "sizes M,N,K of the product that the kernel is run on");
  app->add_option("--block", o.driver.block, "threads of a block: x,y (default: derived)");
  app->add_option("--grid", o.driver.grid,
                  "blocks, in terms of M, N, K: ceil(N/16),ceil(M/16) (default: derived)");
  app->add_option("--shared", o.driver.shared, "dynamic shared memory of a launch, in bytes");
  app->add_option("--roles", o.driver.roles,
                  "what the kernel's arguments are, in order: A,B,C,M,N,K,lda,ldb,ldc,alpha,beta");
  app->add_option("--run", args->program_arguments, "arguments for a program with main");
  app->add_flag("--json", args->json, "print the report as JSON");
  app->add_option("--html", args->html, "write the source with its findings and counts to a file");
  app->add_option("--sarif", args->sarif, "write a SARIF file for code review");
  app->add_option("--fail-on", args->fail_on, "finding, or warning: what makes the exit code 6")
      ->check(CLI::IsMember({"finding", "warning"}));
  app->add_flag("--no-count", args->no_count, "only look for faults; count no accesses");
  app->add_flag("--no-nvcc", args->no_nvcc, "take access widths from the source");
  app->add_option("--arch", o.architecture, "architecture for registers and occupancy")
      ->capture_default_str();
  app->add_option("--workers", o.workers, "threads of the executor (default: the cores)")
      ->check(CLI::Range(0, 256));
  app->add_option("--time-limit", o.time_limit_s, "seconds for the program")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app->add_option("--step-limit", o.thread_accesses, "accesses of one thread")
      ->capture_default_str();
  app->add_option("--max-accesses", o.max_accesses,
                  "watched accesses, about; with more, only some blocks are checked")
      ->capture_default_str();
  app->add_flag("-q,--quiet", args->quiet, "print nothing");
  app->footer(
      "Exit codes: 0 no fault, 6 a fault, 2 usage, 3 the file cannot be read, 4 it cannot be "
      "compiled or run.\nSlow accesses are warnings. See docs/checker.md.");
  return {app, [args] {
            try {
              return run_check(*args);
            } catch (const Error& error) {
              if (std::string(error.what()).find('\n') == std::string::npos) throw;
              return report_lines(error);
            }
          }};
}

}  // namespace tessera::cli
