// How many threads a CPU call uses, and the pool that runs them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace tessera {

/// More than any machine has cores; what is beyond it is a mistake that would use up memory.
inline constexpr int kMostThreads = 4096;

/// `requested` when positive; else TESSERA_NUM_THREADS when set and not empty (Error when it is not
/// a number from 1 to kMostThreads); else the cores this process may run on.
int resolve_threads(int requested);

/// Calls body(task, worker) once for each task in [0, tasks), on at most `threads` threads: the
/// caller's and threads - 1 of a process-wide pool, worker in [0, threads). Returns when all are
/// done. Tasks must not throw and must not wait for each other: when the pool is busy with another
/// caller's work, or absent (after fork), the caller runs every task itself. Each thread begins
/// with a run of tasks that is the same one when the call is repeated, so that it finds in its
/// caches what it left there; who is done first takes tasks of the others.
void parallel_for(int threads, std::int64_t tasks,
                  const std::function<void(std::int64_t task, int worker)>& body);

/// The same, but tasks start in order, so one may wait for those of smaller numbers, and for no
/// others.
void parallel_in_order(int threads, std::int64_t tasks,
                       const std::function<void(std::int64_t task, int worker)>& body);

/// Returns when `count`, which other tasks raise, has reached `least`; what they wrote before is
/// seen after. Spins, yields the core, and sleeps in the end.
void wait_until(const std::atomic<std::int64_t>& count, std::int64_t least);

}  // namespace tessera
