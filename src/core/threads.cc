#include "core/threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "tessera/error.h"
#include "tessera/kernel.h"

namespace tessera {

int resolve_threads(int requested) {
  if (requested > 0) return requested;
  if (const char* text = std::getenv("TESSERA_NUM_THREADS"); text != nullptr && *text != 0) {
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [p, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || p != end || value < 1 || value > kMostThreads) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("TESSERA_NUM_THREADS = \"{}\": must be a whole number from 1 to {}",
                              text, kMostThreads));
    }
    return value;
  }
  return cpu_device().cores;
}

namespace {

/// Waits in a loop for what another thread is about to do: a sleeping thread takes longer to wake
/// than a small product takes. Soon it lets other threads have the core, then it gives up.
class Spin {
 public:
  /// False when it is time to sleep instead.
  bool wait() {
    if (++turns_ <= kBusyTurns) {
      pause();
      return true;
    }
    // Another thread may need this core: the caller's own, or the one that is waited for.
    sched_yield();
    const auto now = std::chrono::steady_clock::now();
    if (turns_ == kBusyTurns + 1) deadline_ = now + std::chrono::microseconds(100);
    return now < deadline_;
  }

 private:
  static constexpr int kBusyTurns = 64;

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int turns_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

/// Workers that wait for one job at a time. The caller of a job works too. Holds no memory of its
/// own, so that a fork can abandon it.
class Pool {
 public:
  /// False when another job is running, be it the caller's own; then nothing was done.
  bool try_run(int threads, std::int64_t tasks, bool in_order,
               const std::function<void(std::int64_t, int)>& body) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    // Threads that share cores only keep each other from working when they spin.
    const bool spins = threads <= cpu_device().cores;
    int sleepers = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      grow(threads - 1);
      body_ = &body;
      runs_ = in_order ? 1 : std::min(threads, kMostRuns);
      for (int i = 0; i < runs_; ++i) {
        run_[i].next.store(tasks * i / runs_, std::memory_order_relaxed);
        run_[i].end = tasks * (i + 1) / runs_;
      }
      spins_.store(spins, std::memory_order_relaxed);
      claimed_ = 1;
      open_.store(std::min(threads - 1, workers_), std::memory_order_relaxed);
      joined_ = 0;
      sleepers = std::min(sleepers_, threads - 1);
    }
    for (int i = 0; i < sleepers; ++i) start_.notify_one();
    work(0, 0);
    {
      // No task is left: a worker that has not woken yet is not waited for.
      std::unique_lock<std::mutex> lock(mutex_);
      open_.store(0, std::memory_order_relaxed);
      lock.unlock();
      for (Spin spin; spins && running_.load(std::memory_order_acquire) > 0 && spin.wait();) {
      }
      lock.lock();
      finished_.wait(lock, [this] { return running_.load(std::memory_order_relaxed) == 0; });
      body_ = nullptr;
    }
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  void grow(int workers) {
    while (workers_ < workers) {
      try {
        std::thread([this, home = workers_ + 1] { serve(home); }).detach();
      } catch (const std::exception&) {  // no thread, or no memory for one
        return;                          // fewer than asked for: slower, not wrong
      }
      ++workers_;
    }
  }

  bool is_open() const { return open_.load(std::memory_order_relaxed) > 0; }

  void serve(int home) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if (!is_open()) {
        lock.unlock();
        for (Spin spin; spins_.load(std::memory_order_relaxed) && !is_open() && spin.wait();) {
        }
        lock.lock();
        ++sleepers_;
        start_.wait(lock, [this] { return is_open(); });
        --sleepers_;
      }
      // A worker takes a place in a job at most once: after work() no task is left, and joining
      // again would find none.
      open_.fetch_sub(1, std::memory_order_relaxed);
      const int worker = ++joined_;
      const int first = claim(home);
      running_.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      work(worker, first);
      lock.lock();
      if (running_.fetch_sub(1, std::memory_order_release) == 1) finished_.notify_one();
    }
  }

  /// The run a thread begins with: the same one each time, unless another thread has it.
  int claim(int home) {
    int run = home % runs_;
    if ((claimed_ >> run & 1) != 0) run = std::countr_one(claimed_) % runs_;
    claimed_ |= std::uint64_t{1} << run;
    return run;
  }

  /// Tasks of that run, then of the others.
  void work(int worker, int first) {
    for (int i = 0; i < runs_; ++i) {
      Run& run = run_[(first + i) % runs_];
      // Asked first: a run that is done is left alone.
      while (run.next.load(std::memory_order_relaxed) < run.end) {
        const std::int64_t task = run.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= run.end) break;
        (*body_)(task, worker);
      }
    }
  }

  /// Tasks that one thread begins with.
  struct alignas(64) Run {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  static constexpr int kMostRuns = 64;  // as claimed_ has bits

  std::atomic<bool> busy_{false};  // a caller's job runs
  std::mutex mutex_;               // guards what follows; the atomics are also read without it
  std::condition_variable start_, finished_;
  int workers_ = 0, sleepers_ = 0;
  std::atomic<bool> spins_{false};
  // The job. It changes only while no worker runs.
  const std::function<void(std::int64_t, int)>* body_ = nullptr;
  int runs_ = 0;
  Run run_[kMostRuns];
  std::uint64_t claimed_ = 0;    // the runs that a thread has begun with
  std::atomic<int> open_{0};     // places for workers in the job
  int joined_ = 0;               // workers that came
  std::atomic<int> running_{0};  // workers that came and have not left
};

// Never destroyed: detached workers may outlive static destruction.
alignas(Pool) std::byte g_storage[sizeof(Pool)];

Pool& pool() {
  static Pool* const instance = [] {
    // A forked child has none of the parent's workers, and its locks are in an unknown state: a new
    // pool takes the place of the old one. Constructing it allocates nothing, as a handler must
    // not.
    pthread_atfork(nullptr, nullptr, [] { new (g_storage) Pool; });
    return new (g_storage) Pool;
  }();
  return *instance;
}

// Made when the library is loaded: a fork while another thread makes it would leave the child
// waiting for that thread.
[[maybe_unused]] const Pool& g_made_at_load = pool();

}  // namespace

namespace {

void run_tasks(int threads, std::int64_t tasks, bool in_order,
               const std::function<void(std::int64_t, int)>& body) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, tasks));
  if (threads > 1 && pool().try_run(threads, tasks, in_order, body)) return;
  for (std::int64_t task = 0; task < tasks; ++task) body(task, 0);
}

}  // namespace

void parallel_for(int threads, std::int64_t tasks,
                  const std::function<void(std::int64_t, int)>& body) {
  run_tasks(threads, tasks, false, body);
}

void parallel_in_order(int threads, std::int64_t tasks,
                       const std::function<void(std::int64_t, int)>& body) {
  run_tasks(threads, tasks, true, body);
}

void wait_until(const std::atomic<std::int64_t>& count, std::int64_t least) {
  for (Spin spin; count.load(std::memory_order_acquire) < least;) {
    // A task that takes this long may need the very core, and a yield need not give it away.
    if (!spin.wait()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace tessera
