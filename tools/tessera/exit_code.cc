// Errors to exit codes.
#include "exit_code.h"

namespace tessera::cli {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kUsage;
    case ErrorCode::kBadFile:
      return kBadInput;
    case ErrorCode::kUnsupported:
    case ErrorCode::kNoDevice:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kDeviceFailure:
    case ErrorCode::kOutputFailure:
      return kCannotRun;
    case ErrorCode::kCancelled:
      return kInterrupted;
  }
  return kInternal;
}

std::string exit_code_help() {
  return "Exit codes:\n"
         "  0    done; where there was a check, it passed\n"
         "  1    internal error\n"
         "  2    usage: an option, an argument, shapes that do not fit, output equal to an input\n"
         "  3    an input file is missing, damaged or of an unknown type\n"
         "  4    cannot run here: no such device, no kernel, out of memory, output not writable\n"
         "  5    the check failed: the product is wrong\n"
         "  6    `tessera check` found a fault\n"
         "  130  interrupted (SIGINT); 143 by SIGTERM, 129 by SIGHUP\n";
}

}  // namespace tessera::cli
