#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "interrupt.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

constexpr double kWorthShowing_s = 2.0;
constexpr double kBetweenLines_s = 0.2;

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

Progress::Progress(std::string what, bool wanted)
    : what_(std::move(what)), enabled_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void Progress::update(double fraction, double flops_done) {
  if (!enabled_ || !(fraction > 0 && fraction < 1)) return;
  const Clock::time_point now = Clock::now();
  const double elapsed_s = seconds(now - start_);
  const double left_s = elapsed_s / fraction - elapsed_s;
  if (elapsed_s + left_s < kWorthShowing_s || elapsed_s < kBetweenLines_s) return;
  if (visible_ && seconds(now - last_) < kBetweenLines_s) return;
  last_ = now;
  std::string line = fmt::format("\r\033[K{} {:3.0f}%", what_, 100 * fraction);
  if (flops_done > 0) line += fmt::format("  {:.1f} GFLOP/s", flops_done / elapsed_s / 1e9);
  line += fmt::format("  {} left", format_seconds(left_s));
  set_progress_visible(true);
  visible_ = true;
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void Progress::finish() {
  if (!visible_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  set_progress_visible(false);
  visible_ = false;
}

}  // namespace tessera::cli
