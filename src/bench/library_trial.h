// A CPU library tried in a child process: does it multiply right, and for which processor?
#pragma once

#include <optional>
#include <string>

#include "bench/cpu_library.h"

namespace tessera::bench {

struct Trial {
  bool ok = false;
  std::string why;   ///< unless ok, in one line
  std::string core;  ///< as the library says
  /// Of a 256 x 256 x 256 product on one thread, the best of a few; 0 for a kind without cores.
  double seconds = 0;
};

/// Opens `file` in a child process, with core_variable set to `core` unless that is empty, and
/// multiplies. Not ok when it cannot be opened, crashes, hangs, exits, or multiplies wrong.
Trial try_library(const CpuPeerKind& kind, const std::string& file, const std::string& core);

/// A value for kind.core_variable with which a library runs clearly faster than on its own, and
/// the note that says so.
struct CoreChoice {
  std::string core, note;
};
/// `own` is its trial without the variable. std::nullopt when nothing better is found.
std::optional<CoreChoice> better_core(const CpuPeerKind& kind, const std::string& file,
                                      const Trial& own);

}  // namespace tessera::bench
