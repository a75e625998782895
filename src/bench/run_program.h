// Runs a program and keeps what it prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::bench {

struct Printed {
  int exit_code = -1;  ///< -1 when it was killed
  std::string out, err;
  bool was_stopped = false;  ///< it was killed for passing a limit
};

/// What a program may take; 0: as much as it likes.
struct ProgramLimits {
  double seconds = 0;
  std::int64_t bytes = 0;  ///< of either stream
};

/// Runs `words[0]`, a file or a name on PATH, with the other words as arguments and `input` to
/// read and `variables` (NAME=VALUE) in place of this process's, without a shell. Throws
/// Error(kUnsupported) when it cannot be started. It is killed if a signal ends this process.
Printed run_program(const std::vector<std::string>& words, std::string_view input = "",
                    const ProgramLimits& limits = {},
                    const std::vector<std::string>& variables = {});

/// The last line that is not blank, of those that begin with `mark`, which is left out; empty when
/// there is none.
std::string last_line(std::string_view text, std::string_view mark = "");

}  // namespace tessera::bench
