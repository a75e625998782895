// The programs that run for this process, in a form that a signal handler can end.
#pragma once

#include <spawn.h>
#include <sys/types.h>

namespace tessera::bench {

/// A program in a process group of its own, so that what it starts in turn (nvcc's passes, a
/// linker) ends with it.
class ChildGroup {
 public:
  /// As posix_spawnp; error() tells.
  ChildGroup(const char* program, const posix_spawn_file_actions_t* actions, char* const* arguments,
             char* const* environment);
  /// After the program has been waited for.
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

  int error() const { return error_; }
  pid_t pid() const { return pid_; }
  void kill() const;

 private:
  int slot_ = -1;
  pid_t pid_ = -1;
  int error_ = 0;
};

/// Kills every group, for a process that is about to end; async-signal-safe. Threads that wait for
/// a program then wait for that end, instead of saying that their program failed.
void end_children() noexcept;
/// Does not return once end_children() was called.
void wait_if_ending();

}  // namespace tessera::bench
