// Plans in use: nothing allocated while one runs, many threads on one, scalars and pointers.
#include "tessera/plan.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/compare.h"
#include "support/errors.h"

namespace {
std::atomic<std::int64_t> g_allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++g_allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* p = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

// Every allocation by new in this program, the library's too. The array forms call these; so does
// the one without exceptions, but a sanitizer's would not, and its memory would meet our delete.
void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace tessera::test {
namespace {

/// Workspace for one caller of a plan.
class Workspace {
 public:
  explicit Workspace(const Plan& plan)
      : memory_(plan.workspace_bytes() + 256), bytes_(plan.workspace_bytes()) {}
  void* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (256 - address % 256) % 256;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<char> memory_;
  std::size_t bytes_;
};

GemmDesc description(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmDesc d;
  d.dtype = dtype;
  d.a = {m, k, k};
  d.b = {k, n, n};
  d.c = {m, n, n};
  return d;
}

template <class T>
void expect_no_allocation(int threads) {
  // Large enough that the blocked kernel gives every thread a part.
  constexpr std::int64_t m = 211, n = 223, k = 227;
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != "cpu" || kernel.id.dtype != DTypeOf<T>::value) continue;
    GemmOptions options;
    options.kernel = kernel.name;
    options.threads = threads;
    const Plan plan(description(DTypeOf<T>::value, m, n, k), options);
    Workspace workspace(plan);
    TestMatrix<T> a(m, k), b(k, n), c(m, n);
    a.fill_normal(1);
    b.fill_normal(2);
    const auto run = [&](double alpha, double beta) {
      plan.run(alpha, a.view().data, b.view().data, beta, c.view().data, workspace.data(),
               workspace.bytes());
    };
    run(1, 0);  // the pool starts its threads at the first call that wants them
    const std::int64_t before = g_allocations;
    run(1, 0);
    run(0.5, 2);
    run(0, 0.5);
    EXPECT_EQ(g_allocations, before) << kernel.name << ", " << threads << " threads";
  }
}

TEST(PlanAllocation, TheCounterSeesTheLibrary) {
  const std::int64_t before = g_allocations;
  const Plan plan(description(DType::kF32, 8, 8, 8));
  EXPECT_FALSE(plan.explain().to_string().empty());
  EXPECT_GT(g_allocations, before);
}

TEST(PlanAllocation, RunAllocatesNothingOnTheCpu) {
  for (int threads : {1, 4}) {
    expect_no_allocation<float>(threads);
    expect_no_allocation<double>(threads);
  }
}

// gemm keeps the plans of a thread's last products: the same shape again must not allocate, and a
// call that differs in anything must not get another's plan.
TEST(RecentPlans, ARepeatedCallAllocatesNothing) {
  std::vector<float> a(64 * 64, 1.0f), b(64 * 64, 2.0f), c(64 * 64);
  const auto call = [&] {
    gemm(Op::kN, Op::kN, 1.0f, row_major<const float>(a.data(), 64, 64),
         row_major<const float>(b.data(), 64, 64), 0.0f, row_major(c.data(), 64, 64));
  };
  call();
  const std::int64_t before = g_allocations;
  for (int i = 0; i < 10; ++i) call();
  EXPECT_EQ(g_allocations, before);
  EXPECT_EQ(c[5], 128.0f);
}

TEST(RecentPlans, CallsThatDifferAreToldApart) {
  // More kinds of calls than are kept, in turns; small integers, so that every sum is exact.
  const auto at = [](int i, int j) { return static_cast<double>((i * 7 + j * 3) % 5 - 2); };
  for (int round = 0; round < 3; ++round) {
    for (int m = 1; m <= 4; ++m) {
      for (const auto& [ta, tb] : {std::pair{Op::kN, Op::kN}, {Op::kT, Op::kN}, {Op::kN, Op::kT}}) {
        for (int pad : {0, 1}) {
          for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
            const auto check = [&]<class T>(T) {
              const int n = 5, k = 3;
              std::vector<T> a(100), b(100), c(100, T{9});
              const auto view = [&](std::vector<T>& x, int rows, int cols) {
                const int ld = (layout == Layout::kRowMajor ? cols : rows) + pad;
                for (int i = 0; i < rows; ++i) {
                  for (int j = 0; j < cols; ++j) {
                    x[layout == Layout::kRowMajor ? i * ld + j : j * ld + i] =
                        static_cast<T>(at(i, j));
                  }
                }
                return MatrixView<T>{x.data(), rows, cols, ld, layout};
              };
              const MatrixView<T> va = ta == Op::kN ? view(a, m, k) : view(a, k, m);
              const MatrixView<T> vb = tb == Op::kN ? view(b, k, n) : view(b, n, k);
              const int ldc = (layout == Layout::kRowMajor ? n : m) + pad;
              gemm(ta, tb, T{1}, MatrixView<const T>(va), MatrixView<const T>(vb), T{0},
                   MatrixView<T>{c.data(), m, n, ldc, layout});
              for (int i = 0; i < m; ++i) {
                for (int j = 0; j < n; ++j) {
                  double sum = 0;
                  for (int p = 0; p < k; ++p) {
                    sum +=
                        (ta == Op::kN ? at(i, p) : at(p, i)) * (tb == Op::kN ? at(p, j) : at(j, p));
                  }
                  ASSERT_EQ(c[layout == Layout::kRowMajor ? i * ldc + j : j * ldc + i], sum)
                      << m << ' ' << pad << ' ' << i << ' ' << j;
                }
              }
            };
            check(float{});
            check(double{});
          }
        }
      }
    }
  }
}

TEST(RecentPlans, TheEnvironmentIsHeardOnEveryCall) {
  const char* const before = std::getenv("TESSERA_NUM_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  float a = 2, b = 3, c = 0;
  const auto call = [&] {
    gemm(Op::kN, Op::kN, 1.0f, row_major<const float>(&a, 1, 1), row_major<const float>(&b, 1, 1),
         0.0f, row_major(&c, 1, 1));
  };
  call();
  EXPECT_EQ(c, 6.0f);
  setenv("TESSERA_NUM_THREADS", "none", 1);
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, call), "TESSERA_NUM_THREADS");
  before == nullptr ? unsetenv("TESSERA_NUM_THREADS")
                    : setenv("TESSERA_NUM_THREADS", kept.c_str(), 1);
  c = 0;
  call();
  EXPECT_EQ(c, 6.0f);
}

TEST(PlanThreads, OnePlanRunsFromManyThreads) {
  constexpr std::int64_t m = 70, n = 90, k = 110;
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != "cpu" || kernel.id.dtype != DType::kF32) continue;
    GemmOptions options;
    options.kernel = kernel.name;
    options.threads = 3;
    const Plan plan(description(DType::kF32, m, n, k), options);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (std::uint64_t caller = 0; caller < 8; ++caller) {
      callers.emplace_back([&, caller] {
        // Each with inputs of its own, so that a result in the wrong place is a wrong result.
        TestMatrix<float> a(m, k), b(k, n), c(m, n);
        a.fill_integers(2 * caller + 1);
        b.fill_integers(2 * caller + 2);
        const Reference expected = reference_gemm(Op::kN, Op::kN, 1.0, a, b, 0.0, c);
        Workspace workspace(plan);
        for (int call = 0; call < 20; ++call) {
          c.fill_constant(poison<float>());
          plan.run(1, a.view().data, b.view().data, 0, c.view().data, workspace.data(),
                   workspace.bytes());
          if (!compare_exact(expected, c)) ++wrong;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0) << kernel.name;
  }
}

TEST(PlanScalars, KeepEveryBitOfF64) {
  // 1 + 2^-40 is 1 in FP32 and 1e-60 is 0; an FP64 product sees both as they are.
  const double a[1] = {1}, b[1] = {1};
  double c[1] = {0x1p80};
  GemmOptions options;
  options.kernel = "cpu.naive";
  const Plan plan(description(DType::kF64, 1, 1, 1), options);
  plan.run(1 + 0x1p-40, a, b, 0, c);
  EXPECT_EQ(c[0], 1 + 0x1p-40);
  c[0] = 1e60;
  plan.run(1, a, b, 1e-60, c);
  EXPECT_NEAR(c[0], 2, 1e-12);
}

TEST(PlanPointers, OnlyWhatIsReadIsChecked) {
  alignas(64) float memory[64] = {};
  GemmOptions options;
  options.kernel = "cpu.naive";
  const Plan plan(description(DType::kF32, 2, 2, 2), options);
  // alpha == 0: neither A nor B is looked at; null, misaligned and C itself are all fine.
  std::fill(memory, memory + 4, 3.0f);
  plan.run(0, nullptr, reinterpret_cast<const char*>(memory) + 1, 2, memory);
  EXPECT_EQ(memory[3], 6.0f);
  plan.run(0, memory, memory, 1, memory);
  EXPECT_EQ(memory[3], 6.0f);
  const auto refused = [&](const void* a, const void* b, void* c) {
    return error_of(ErrorCode::kInvalidArgument, [&] { plan.run(1, a, b, 0, c); });
  };
  const auto odd = [&](int element) { return reinterpret_cast<char*>(memory + element) + 2; };
  EXPECT_SAYS(refused(odd(8), memory + 16, memory + 32), "A is at address");
  EXPECT_SAYS(refused(memory + 8, odd(16), memory + 32), "B is at address");
  EXPECT_SAYS(refused(memory + 8, memory + 16, odd(32)), "C is at address");
  EXPECT_SAYS(refused(nullptr, memory + 16, memory + 32), "A is null");
  EXPECT_SAYS(refused(memory + 8, memory + 16, nullptr), "C is null");
}

TEST(PlanWorkspace, TooSmallOrMisalignedIsRefusedAndCIsUntouched) {
  GemmOptions options;
  options.kernel = "c02_blocked";
  options.threads = 1;
  constexpr std::int64_t size = 20;
  const Plan plan(description(DType::kF32, size, size, size), options);
  ASSERT_GT(plan.workspace_bytes(), 0U);
  Workspace workspace(plan);
  TestMatrix<float> a(size, size), b(size, size), c(size, size);
  a.fill_normal(1);
  b.fill_normal(2);
  const TestMatrix<float> before = c;
  const auto run = [&](void* memory, std::size_t bytes, double alpha) {
    plan.run(alpha, a.view().data, b.view().data, 0, c.view().data, memory, bytes);
  };
  for (const auto& [memory, bytes] :
       {std::pair<void*, std::size_t>{workspace.data(), workspace.bytes() - 1},
        {static_cast<char*>(workspace.data()) + 128, workspace.bytes()},
        {nullptr, workspace.bytes()}}) {
    EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, [&] { run(memory, bytes, 1); }),
                "multiple of 256");
    EXPECT_TRUE(same_bits(c.buffer(), before.buffer()));
  }
  run(nullptr, 0, 0);  // scaling needs none
  EXPECT_EQ(c.at(size - 1, size - 1), 0.0f);
}

}  // namespace
}  // namespace tessera::test
