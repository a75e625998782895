// Launches that fail beyond some size, of a host function that launches by itself: it is called
// with other sizes, in a process of its own, where launches and memory only pretend.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "simt/run/session.h"

namespace tessera::simt {
namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 30;  // int arithmetic ends soon after
constexpr unsigned kMostBlocksYz = 65535;
constexpr double kPatience_s = 1;

/// Of one size: the largest with which all launches fit, and the grid's axis that then does not.
struct Limit {
  std::int64_t most = 0;
  int size = 0, axis = 0;
};

/// Nothing that the function does must be taken for the checked run's: its messages, its end, its
/// crash. Returns what `pipe_end` has become.
int leave_the_run(int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(s, SIG_DFL);
  const int out = fcntl(pipe_end, F_DUPFD_CLOEXEC, 256);
  if (out < 0) _exit(0);
  close_range(3, static_cast<unsigned>(out) - 1, 0);
  close_range(static_cast<unsigned>(out) + 1, ~0U, 0);
  for (const int standard : {1, 2}) {
    close(standard);
    open("/dev/null", O_WRONLY);
  }
  return out;
}

}  // namespace

bool Session::pretend_launch(const simt_launch& launch) {
  if (!pretends_) return false;
  if (launch.grid.y > kMostBlocksYz) pretended_axis_ = 1;
  if (launch.grid.z > kMostBlocksYz) pretended_axis_ = 2;
  return true;
}

void Session::find_limits(const DriveArguments& x, void (*entry)(const DriveArguments*), int out) {
  const bool is_square = options_.drive.size_names[1].empty();
  pretends_ = true;
  for (int size = 0; size < (is_square ? 1 : 3); ++size) {
    const auto axis_at = [&](std::int64_t value) {
      DriveArguments other = x;
      for (const auto& [at, of] :
           {std::pair{0, &other.m}, std::pair{1, &other.n}, std::pair{2, &other.k}}) {
        if (is_square || at == size) *of = value;
      }
      other.lda = other.k, other.ldb = other.ldc = other.n;
      pretended_axis_ = 0;
      entry(&other);
      return pretended_axis_;
    };
    std::int64_t low = size == 0 ? x.m : size == 1 ? x.n : x.k, high = kLargestSize;
    if (axis_at(low) != 0 || axis_at(high) == 0) continue;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (axis_at(middle) == 0 ? low : high) = middle;
    }
    const Limit limit{low, size, axis_at(high)};
    if (write(out, &limit, sizeof limit) != sizeof limit) break;
  }
  _exit(0);
}

void Session::note_limits(const DriveArguments& x, void (*entry)(const DriveArguments*)) {
  if (options_.drive.size_names[0].empty() || options_.drive.column_major) return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) find_limits(x, entry, leave_the_run(ends[1]));
  close(ends[1]);
  const double until_s = now_s() + kPatience_s;
  Limit limit;
  while (child > 0 && now_s() < until_s) {
    pollfd ready{ends[0], POLLIN, 0};
    const int count = poll(&ready, 1, static_cast<int>((until_s - now_s()) * 1000) + 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || read(ends[0], &limit, sizeof limit) != sizeof limit) break;
    result_.launch_notes.push_back(
        fmt::format("{} launches by itself, with grid.{} beyond 65535 where {} is larger "
                    "than {}: that launch fails",
                    options_.drive.kernel, "xyz"[limit.axis], options_.drive.size_names[limit.size],
                    limit.most));
  }
  close(ends[0]);
  if (child <= 0) return;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace tessera::simt
