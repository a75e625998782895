// How the process ends. Apart from cli.h, whose libraries are slow to compile.
#pragma once

#include <stdexcept>
#include <string>

#include "tessera/error.h"

namespace tessera::cli {

/// Documented in docs/cli.md and at the end of `tessera --help`.
enum ExitCode : int {
  kOk = 0,
  kInternal = 1,
  kUsage = 2,
  kBadInput = 3,
  kCannotRun = 4,
  kCheckFailed = 5,
  kCheckerFault = 6,
  kSignalled = 128,  ///< and the signal's number, as a shell says it
  kInterrupted = kSignalled + 2,
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

/// The whole program: parses and runs; every error becomes one line on stderr and an exit code.
int run_command_line(int argc, char** argv);

}  // namespace tessera::cli
