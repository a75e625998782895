#include "bench/quiet.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

namespace tessera::bench {
namespace {

enum class Activity { kQuiet, kBusy, kUnknown };

/// State of a thread: the letter after the name, whose closing parenthesis is the last one.
char state_of(const std::string& thread) {
  std::ifstream file("/proc/self/task/" + thread + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() ? line[name_end + 2] : 'X';
}

/// From the states of the threads, not from the CPU time of the process: that of threads on other
/// processors the kernel brings up to date only at its ticks, which may be 10 ms apart.
Activity other_threads() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), closedir);
  if (folder == nullptr) return Activity::kUnknown;
  const std::string self = std::to_string(syscall(SYS_gettid));
  while (const dirent* entry = readdir(folder.get())) {
    const std::string thread = entry->d_name;
    if (thread.front() != '.' && thread != self && state_of(thread) == 'R') return Activity::kBusy;
  }
  return Activity::kQuiet;
}

}  // namespace

bool wait_until_quiet(double at_most_s) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  while (true) {
    const Activity activity = other_threads();
    if (activity != Activity::kBusy) return activity == Activity::kQuiet;
    if (std::chrono::duration<double>(Clock::now() - begin).count() >= at_most_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace tessera::bench
