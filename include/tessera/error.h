// The one exception type of Tessera.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera {

/// What kind of rule was broken. The command line maps each to an exit code (see docs/cli.md).
enum class ErrorCode {
  kInvalidArgument,  ///< an argument breaks a documented rule
  kUnsupported,      ///< legal, but no kernel here can do it, or the named one cannot
  kNoDevice,         ///< the requested device does not exist or cannot be used
  kOutOfMemory,      ///< host or device memory ran out
  kDeviceFailure,    ///< a CUDA call or a launch failed
  kBadFile,          ///< an input file is missing, truncated, or says what cannot be true
  kOutputFailure,    ///< an output file could not be written
  kCancelled,        ///< a progress callback asked to stop; outputs are incomplete
};

/// Thrown by every function of the library that cannot do what was asked.
/// The message is one line: operation, argument, its value, the rule.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tessera
