#include "bench/child_group.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace tessera::bench {
namespace {

constexpr pid_t kFree = 0, kStarting = -1;
constexpr int kSlots = 64, kTries = 100;
std::array<std::atomic<pid_t>, kSlots> groups{};
std::atomic<bool> ending{false};
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler uses the groups");

int take_slot() {
  for (int i = 0; i < kSlots; ++i) {
    pid_t expected = kFree;
    if (groups[static_cast<std::size_t>(i)].compare_exchange_strong(expected, kStarting)) return i;
  }
  return -1;
}

}  // namespace

ChildGroup::ChildGroup(const char* program, const posix_spawn_file_actions_t* actions,
                       char* const* arguments, char* const* environment) {
  // While a program is being started a handler waits for its number; so it must not run here.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  slot_ = take_slot();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &before);
  error_ = slot_ < 0 ? EAGAIN
                     : posix_spawnp(&pid_, program, actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  if (error_ != 0) pid_ = -1;
  if (slot_ >= 0) groups[static_cast<std::size_t>(slot_)].store(error_ == 0 ? pid_ : kFree);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error_ != 0) slot_ = -1;
}

ChildGroup::~ChildGroup() {
  if (slot_ >= 0) groups[static_cast<std::size_t>(slot_)].store(kFree);
}

void ChildGroup::kill() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

void end_children() noexcept {
  ending.store(true);
  for (const std::atomic<pid_t>& group : groups) {
    for (int i = 0; group.load() == kStarting && i < kTries; ++i) {
      const timespec moment{0, 10'000'000};
      ::nanosleep(&moment, nullptr);
    }
    if (const pid_t leader = group.load(); leader > 0) ::kill(-leader, SIGKILL);
  }
}

void wait_if_ending() {
  while (ending.load()) ::pause();
}

}  // namespace tessera::bench
