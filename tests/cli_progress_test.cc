// The progress line, seen on a terminal: a pseudo-terminal in the place of stderr.
#include "progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace tessera::cli {
namespace {

/// stderr, while f runs, is a terminal (or a pipe); what was written to it.
template <class F>
std::string stderr_of(bool terminal, F f) {
  int ends[2] = {-1, -1};
  const bool made =
      terminal ? ::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) == 0 : ::pipe(ends) == 0;
  if (!made) return "neither a terminal nor a pipe could be made";
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  f();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  std::string text;
  char buffer[4096];
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  return text;
}

/// A twentieth of the work after a quarter of a second: about five seconds in all.
void long_work(bool wanted) {
  Progress progress("multiplying", wanted);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  progress.update(0.05, 5e9);
}

TEST(Progress, LongWorkShowsShareRateAndTimeLeftAndIsWiped) {
  const std::string text = stderr_of(true, [] { long_work(true); });
  EXPECT_NE(text.find("multiplying   5%"), std::string::npos) << text;
  EXPECT_NE(text.find("GFLOP/s"), std::string::npos) << text;
  EXPECT_NE(text.find(" left"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  const std::string wipe = "\r\033[K";
  ASSERT_GE(text.size(), wipe.size());
  EXPECT_EQ(text.substr(text.size() - wipe.size()), wipe);
}

TEST(Progress, NothingWithoutATerminalOrWhenUnwanted) {
  EXPECT_EQ(stderr_of(false, [] { long_work(true); }), "");
  EXPECT_EQ(stderr_of(true, [] { long_work(false); }), "");
}

TEST(Progress, ShortWorkShowsNothing) {
  const std::string text = stderr_of(true, [] {
    Progress progress("multiplying", true);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    progress.update(0.9, 5e9);
    progress.update(1, 5e9);
  });
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace tessera::cli
