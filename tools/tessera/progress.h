// One line on stderr that is rewritten, for work that takes more than about two seconds.
#pragma once

#include <chrono>
#include <string>

namespace tessera::cli {

class Progress {
 public:
  /// Shows nothing unless stderr is a terminal and `wanted`.
  Progress(std::string what, bool wanted);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// fraction of the work done so far; flops_done 0 when a rate means nothing.
  void update(double fraction, double flops_done);
  /// Wipes the line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool enabled_ = false;
  bool visible_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace tessera::cli
