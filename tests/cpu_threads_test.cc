// The thread pool, and products that use it: from many threads, after fork, with any thread count.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/threads.h"
#include "support/sanitized.h"
#include "tessera/gemm.h"
#include "tessera/plan.h"

namespace tessera {
namespace {

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

template <class T>
std::vector<T> random_vector(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> out(static_cast<std::size_t>(count));
  for (T& x : out) x = uniform(engine);
  return out;
}

/// An m x n x k product of random operands, by the blocked kernel.
template <class T>
struct Product {
  std::int64_t m, n, k;
  std::vector<T> a = random_vector<T>(m * k, 1), b = random_vector<T>(k * n, 2);
  std::vector<T> c0 = random_vector<T>(m * n, 3);

  std::vector<T> run(int threads) const {
    std::vector<T> c = c0;
    GemmOptions options;
    options.kernel = "c02_blocked";
    options.threads = threads;
    gemm(Op::kN, Op::kN, T(1.25), row_major(a.data(), m, k), row_major(b.data(), k, n), T(-0.5),
         row_major(c.data(), m, n), options);
    return c;
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// Sets an environment variable for a scope.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    if (old != nullptr) old_ = old;
    had_ = old != nullptr;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedEnv() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

/// Runs body in a forked child. True when it returned true within a minute.
bool true_in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  if (child < 0) return false;
  for (int wait = 0; wait < 12000; ++wait) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

/// Every task ran exactly once, on a worker in range.
void expect_all_once(int threads, std::int64_t tasks) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
  std::atomic<bool> in_range{true};
  parallel_for(threads, tasks, [&](std::int64_t task, int worker) {
    ++runs[static_cast<std::size_t>(task)];
    if (worker < 0 || worker >= threads) in_range = false;
  });
  for (const auto& count : runs) ASSERT_EQ(count, 1);
  EXPECT_TRUE(in_range);
}

TEST(ParallelFor, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 3, 8, 33}) {
    for (std::int64_t tasks : {0, 1, 2, 7, 100, 5000}) expect_all_once(threads, tasks);
  }
}

TEST(ParallelFor, ManySmallJobs) {
  for (int job = 0; job < 2000; ++job) expect_all_once(2 + job % 7, 1 + job % 9);
}

TEST(ParallelFor, NoTwoTasksShareAWorkerAtOnce) {
  constexpr int kThreads = 6;
  for (int job = 0; job < 200; ++job) {
    std::atomic<int> inside[kThreads] = {};
    std::atomic<bool> shared{false};
    parallel_for(kThreads, 64, [&](std::int64_t, int worker) {
      if (inside[worker].fetch_add(1) != 0) shared = true;
      inside[worker].fetch_sub(1);
    });
    ASSERT_FALSE(shared);
  }
}

TEST(ParallelInOrder, TasksMayWaitForEarlierOnes) {
  for (int job = 0; job < 50; ++job) {
    std::atomic<std::int64_t> done{0};
    parallel_in_order(2 + job % 7, 200, [&](std::int64_t task, int) {
      wait_until(done, task);
      ++done;
    });
    ASSERT_EQ(done, 200);
  }
}

TEST(ParallelFor, ConcurrentCallers) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([caller] {
      for (int job = 0; job < 200; ++job) expect_all_once(1 + (caller + job) % 5, 40);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ParallelFor, InsideATask) {
  std::atomic<int> inner{0};
  parallel_for(
      4, 10, [&](std::int64_t, int) { parallel_for(4, 10, [&](std::int64_t, int) { ++inner; }); });
  EXPECT_EQ(inner, 100);
}

TEST(ResolveThreads, CallerThenEnvironmentThenCores) {
  {
    const ScopedEnv env("TESSERA_NUM_THREADS", "3");
    EXPECT_EQ(resolve_threads(0), 3);
    EXPECT_EQ(resolve_threads(5), 5);
  }
  {
    const ScopedEnv env("TESSERA_NUM_THREADS", "");  // as if it were not set
    EXPECT_EQ(resolve_threads(0), cpu_device().cores);
  }
  for (const char* bad : {"0", "-1", "two", "1.5", "4 ", "99999999999"}) {
    const ScopedEnv env("TESSERA_NUM_THREADS", bad);
    try {
      resolve_threads(0);
      ADD_FAILURE() << "accepted \"" << bad << '"';
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("TESSERA_NUM_THREADS"), std::string::npos);
    }
  }
}

// J4: the thread count is honoured, however it is set, and bits do not depend on it. The shape is
// large enough that sixteen threads are worth waking, and no multiple of any tile.
template <class T>
void expect_same_bits_for_any_threads() {
  const Product<T> product{331, 337, 347};
  const std::vector<T> expected = product.run(1);
  const int repeats = test::kProgramsSanitized ? 2 : 20;
  for (int threads = 1; threads <= 16; ++threads) {
    GemmDesc desc;
    desc.dtype = DTypeOf<T>::value;
    desc.a = {product.m, product.k, product.k};
    desc.b = {product.k, product.n, product.n};
    desc.c = {product.m, product.n, product.n};
    GemmOptions options;
    options.threads = threads;
    EXPECT_EQ(Plan(desc, options).threads(), threads);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      ASSERT_TRUE(same_bits(product.run(threads), expected)) << threads << " threads";
    }
    const ScopedEnv env("TESSERA_NUM_THREADS", std::to_string(threads));
    options.threads = 0;
    EXPECT_EQ(Plan(desc, options).threads(), threads);
    ASSERT_TRUE(same_bits(product.run(0), expected)) << "TESSERA_NUM_THREADS=" << threads;
  }
}

TEST(BlockedThreads, SameBitsForAnyThreadCountF32) { expect_same_bits_for_any_threads<float>(); }
TEST(BlockedThreads, SameBitsForAnyThreadCountF64) { expect_same_bits_for_any_threads<double>(); }

TEST(BlockedThreads, SameBitsForSkinnyShapes) {
  const std::array<std::int64_t, 3> shapes[] = {
      {3, 3001, 2003}, {3001, 3, 2003}, {1, 5000, 2001}, {40, 40, 10007}};
  for (const auto& [m, n, k] : shapes) {
    const Product<float> product{m, n, k};
    const std::vector<float> expected = product.run(1);
    for (int threads : {2, 5, 16}) {
      EXPECT_TRUE(same_bits(product.run(threads), expected))
          << m << 'x' << n << 'x' << k << ' ' << threads;
    }
  }
}

// K1: no work buffer is shared between callers.
TEST(BlockedThreads, TwentyCallersAtOnce) {
  const std::int64_t m = 128, n = 128, k = 1152;
  const int calls = test::kProgramsSanitized ? 20 : 500;
  const std::vector<float> a = random_vector<float>(m * k, 1), b = random_vector<float>(k * n, 2);
  const auto run = [&](std::vector<float>& c, int threads) {
    GemmOptions options;
    options.kernel = "c02_blocked";
    options.threads = threads;
    gemm(Op::kN, Op::kN, 1.0F, row_major(a.data(), m, k), row_major(b.data(), k, n), 0.0F,
         row_major(c.data(), m, n), options);
  };
  std::vector<float> expected(static_cast<std::size_t>(m * n));
  run(expected, 1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 20; ++caller) {
    callers.emplace_back([&, caller] {
      std::vector<float> c(expected.size());
      for (int call = 0; call < calls; ++call) {
        std::fill(c.begin(), c.end(), -1.0F);
        run(c, caller % 2 == 0 ? 0 : 4);
        if (!same_bits(c, expected)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// K2: a forked child has no workers and may have been forked while they were at work.
TEST(BlockedThreads, AfterFork) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer does not support threads after fork";
  const Product<float> small{8, 8, 8}, large{257, 255, 253};
  const std::vector<float> expect_small = small.run(4), expect_large = large.run(4);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(true_in_child([&] {
      return same_bits(small.run(4), expect_small) && same_bits(large.run(4), expect_large) &&
             true_in_child([&] { return same_bits(large.run(4), expect_large); });
    }));
    EXPECT_TRUE(same_bits(large.run(4), expect_large)) << "the parent's pool";
  }
}

TEST(BlockedThreads, ForkWhileAnotherThreadMultiplies) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer does not support threads after fork";
  const Product<float> product{257, 255, 253};
  const std::vector<float> expected = product.run(4);
  std::atomic<bool> stop{false}, right{true};
  std::thread other([&] {
    while (!stop) {
      if (!same_bits(product.run(4), expected)) right = false;
    }
  });
  for (int round = 0; round < 10; ++round) {
    EXPECT_TRUE(true_in_child([&] { return same_bits(product.run(4), expected); }));
  }
  stop = true;
  other.join();
  EXPECT_TRUE(right);
}

}  // namespace
}  // namespace tessera
