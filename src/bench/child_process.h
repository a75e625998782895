// Work tried in a child process first, because it may crash, hang or exit.
#pragma once

#include <functional>
#include <string>

namespace tessera::bench {

struct ChildResult {
  bool ok = false;
  std::string text;  ///< what the work returned; else one line that says how it ended
};

/// Runs `work` in a forked child that gets at most `at_most_s` seconds; what it prints is not
/// shown. Never throws for what happens in there. Only the calling thread exists in the child: call
/// it where no other thread can be holding a lock that `work` needs.
ChildResult in_child_process(double at_most_s, const std::function<std::string()>& work);

}  // namespace tessera::bench
