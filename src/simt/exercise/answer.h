// The text of an answer, cut at its markers.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tessera::simt {

inline constexpr int kLoad = 0, kFirstBarrier = 1, kAccumulate = 2, kSecondBarrier = 3;

struct Answer {
  struct Blank {
    int first_line = 0, last_line = 0;  ///< of the marker lines
    bool found = false;
    bool empty = true;           ///< comments and stray semicolons are no answer
    int barriers = 0;            ///< calls that wait for the block
    bool plain_barrier = false;  ///< "__syncthreads();" and nothing else
    bool holds(int line) const { return found && line >= first_line && line <= last_line; }
    bool is_filled() const { return found && !empty; }
  };
  std::array<Blank, 4> blanks;
};

Answer read_answer(const std::string& source);

/// The answer with the blanks where `own` is false as they should be. Lines of what stays keep
/// their numbers, in a file called `path`.
std::string completed(const std::string& source, const std::array<bool, 4>& own,
                      const std::string& path);

}  // namespace tessera::simt
