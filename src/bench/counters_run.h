// Runs a program and keeps what it prints.
#pragma once

#include <string>
#include <vector>

namespace tessera::bench {

struct Printed {
  int exit_code = -1;  ///< -1 when it was killed
  std::string out, err;
};

/// Runs `words[0]`, a file, with the other words as arguments, without a shell and with nothing to
/// read. Throws Error(kUnsupported) when it cannot be started.
Printed run_program(const std::vector<std::string>& words);

}  // namespace tessera::bench
