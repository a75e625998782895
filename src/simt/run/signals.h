// Faults and the clock, in a process that runs a session.
#pragma once

#include <cstdint>

namespace tessera::simt {

/// What to do when the host's own code has ended with a signal, or has taken too long (SIGALRM), at
/// this instruction. Runs in the handler; does not return.
using HostEnd = void (*)(int signal, std::uintptr_t instruction);

/// Catches faults and sets the clock. A fault in a kernel ends that thread of it, and is a finding.
/// When the time is up a kernel's thread that loops without touching memory ends its block.
void catch_signals(double time_limit_s, HostEnd host_end);

/// On a thread that runs blocks: where its handlers run, and how the clock reaches it.
class BlockThread {
 public:
  BlockThread();
  ~BlockThread();
  BlockThread(const BlockThread&) = delete;
  BlockThread& operator=(const BlockThread&) = delete;

 private:
  char* stack_ = nullptr;
  int slot_ = -1;
};

}  // namespace tessera::simt
