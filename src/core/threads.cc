#include "core/threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "tessera/error.h"
#include "tessera/kernel.h"

namespace tessera {

int resolve_threads(int requested) {
  if (requested > 0) return requested;
  if (const char* text = std::getenv("TESSERA_NUM_THREADS")) {
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [p, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || p != end || value < 1) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("TESSERA_NUM_THREADS = \"{}\": must be a whole number >= 1", text));
    }
    return value;
  }
  return cpu_device().cores;
}

namespace {

/// Workers that wait for one job at a time. The caller of a job works too.
class Pool {
 public:
  /// False when another caller's job is running; then nothing was done.
  bool try_run(int threads, std::int64_t tasks,
               const std::function<void(std::int64_t, int)>& body) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    grow(threads - 1);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      body_ = &body;
      tasks_ = tasks;
      next_.store(0, std::memory_order_relaxed);
      wanted_ = std::min(threads - 1, static_cast<int>(workers_.size()));
      running_ = wanted_;
      ++generation_;
    }
    start_.notify_all();
    work(0);
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, [this] { return running_ == 0; });
    body_ = nullptr;
    return true;
  }

 private:
  void grow(int workers) {
    while (static_cast<int>(workers_.size()) < workers) {
      const int index = static_cast<int>(workers_.size()) + 1;
      try {
        workers_.emplace_back([this, index, seen = generation_] { serve(index, seen); });
        workers_.back().detach();
      } catch (const std::system_error&) {
        return;  // fewer threads than asked for: slower, not wrong
      }
    }
  }

  void serve(int index, std::uint64_t seen) {
    for (;;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        start_.wait(lock, [&] { return generation_ != seen; });
        seen = generation_;
        if (index > wanted_) continue;
      }
      work(index);
      const std::lock_guard<std::mutex> lock(mutex_);
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

  std::mutex owner_;  // held by the caller whose job runs
  std::mutex mutex_;  // guards what follows
  std::condition_variable start_, finished_;
  const std::function<void(std::int64_t, int)>* body_ = nullptr;
  std::int64_t tasks_ = 0;
  std::atomic<std::int64_t> next_{0};
  int wanted_ = 0, running_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<std::thread> workers_;
};

// Never destroyed: detached workers may outlive static destruction. After fork the child has none
// of the parent's workers and its locks are in an unknown state, so it gets a new pool.
std::atomic<Pool*> g_pool{nullptr};

Pool& pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_pool.store(new Pool, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, [] { g_pool.store(new Pool, std::memory_order_release); });
  });
  return *g_pool.load(std::memory_order_acquire);
}

}  // namespace

void parallel_for(int threads, std::int64_t tasks,
                  const std::function<void(std::int64_t, int)>& body) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, tasks));
  if (threads > 1 && pool().try_run(threads, tasks, body)) return;
  for (std::int64_t task = 0; task < tasks; ++task) body(task, 0);
}

}  // namespace tessera
