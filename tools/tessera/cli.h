// What the verbs of the command line share: exit codes, the shape of a verb, provenance.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tessera/error.h"

namespace tessera::cli {

using Json = nlohmann::ordered_json;

/// Documented in docs/cli.md and at the end of `tessera --help`.
enum ExitCode : int {
  kOk = 0,
  kInternal = 1,
  kUsage = 2,
  kBadInput = 3,
  kCannotRun = 4,
  kCheckFailed = 5,
  kCheckerFault = 6,
  kInterrupted = 130,
};

/// A product that was computed but did not pass its check: exit code kCheckFailed.
class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The one place where an error becomes an exit code.
ExitCode exit_code_of(ErrorCode code);
/// The text under "Exit codes:" in --help.
std::string exit_code_help();

/// A subcommand and what it does once its options are parsed; run returns an ExitCode.
struct Verb {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Verb add_mul(CLI::App& root);
Verb add_verify(CLI::App& root);
Verb add_info(CLI::App& root);
Verb add_kernels(CLI::App& root);
Verb add_show(CLI::App& root);
Verb add_bench(CLI::App& root);
Verb add_completion(CLI::App& root);

/// The whole command line: options of the root, then every verb.
std::vector<Verb> add_all(CLI::App& root);

/// Version, commit, compiler and build of this program.
Json provenance();
/// The same in one line.
std::string version_line();
std::string compiler_text();
/// "nvcc 13.0.88, architectures 80;90", or empty in a build without CUDA.
std::string cuda_build_text();
/// Why times measured by this program mean little (debug build, sanitizer); empty when they do.
std::string slow_build_reason();

/// Prints JSON, with bytes that are not UTF-8 (file names) replaced.
void print_json(const Json& json);
/// A JSON number, or a string for NaN and infinity, which JSON lacks.
Json json_number(double value);
/// Throws Error(kOutputFailure) when what was printed to stdout did not arrive.
void flush_stdout();

}  // namespace tessera::cli
