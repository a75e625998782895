#include "core/threads.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstddef>
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
  if (const char* text = std::getenv("TESSERA_NUM_THREADS")) {
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

/// Workers that wait for one job at a time. The caller of a job works too. Holds no memory of its
/// own, so that a fork can abandon it.
class Pool {
 public:
  /// False when another job is running, be it the caller's own; then nothing was done.
  bool try_run(int threads, std::int64_t tasks,
               const std::function<void(std::int64_t, int)>& body) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      grow(threads - 1);
      body_ = &body;
      tasks_ = tasks;
      next_.store(0, std::memory_order_relaxed);
      places_ = std::min(threads - 1, workers_);
      joined_ = 0;
    }
    for (int i = 1; i < threads; ++i) start_.notify_one();
    work(0);
    {
      // No task is left: a worker that has not woken yet is not waited for.
      std::unique_lock<std::mutex> lock(mutex_);
      places_ = 0;
      finished_.wait(lock, [this] { return running_ == 0; });
      body_ = nullptr;
    }
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  void grow(int workers) {
    while (workers_ < workers) {
      try {
        std::thread([this] { serve(); }).detach();
      } catch (const std::exception&) {  // no thread, or no memory for one
        return;                          // fewer than asked for: slower, not wrong
      }
      ++workers_;
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      // A worker takes a place in a job at most once: after work() no task is left, and joining
      // again would find none.
      start_.wait(lock, [this] { return joined_ < places_; });
      const int worker = ++joined_;
      ++running_;
      lock.unlock();
      work(worker);
      lock.lock();
      if (--running_ == 0) finished_.notify_one();
    }
  }

  void work(int worker) {
    for (;;) {
      const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks_) return;
      (*body_)(task, worker);
    }
  }

  std::atomic<bool> busy_{false};  // a caller's job runs
  std::mutex mutex_;               // guards what follows, but for next_
  std::condition_variable start_, finished_;
  int workers_ = 0;
  // The job. body_ and tasks_ change only while no worker runs.
  const std::function<void(std::int64_t, int)>* body_ = nullptr;
  std::int64_t tasks_ = 0;
  std::atomic<std::int64_t> next_{0};
  int places_ = 0, joined_ = 0;  // workers wanted, and that came
  int running_ = 0;              // workers that came and have not left
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

void parallel_for(int threads, std::int64_t tasks,
                  const std::function<void(std::int64_t, int)>& body) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, tasks));
  if (threads > 1 && pool().try_run(threads, tasks, body)) return;
  for (std::int64_t task = 0; task < tasks; ++task) body(task, 0);
}

}  // namespace tessera
