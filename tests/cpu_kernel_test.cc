// The CPU kernels on every instruction set: right values, nothing touched outside the operands.
#include <gtest/gtest.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/simd_targets.h"
#include "kernels/cpu/blocking.h"
#include "tessera/gemm.h"
#include "tessera/kernel.h"
#include "tessera/plan.h"

namespace tessera {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Memory whose end (or beginning) is flush with a page that cannot be accessed.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes + page - 1) / page * page;
    total_ = inside + 2 * page;
    void* p = mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(p);
    if (inside > 0 && mprotect(base_ + page, inside, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    data_ = base_ + page + (at_end ? inside - bytes : 0);
  }
  ~GuardedBytes() { munmap(base_, total_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  void* data() const { return data_; }

 private:
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t total_ = 0;
};

/// rows x cols elements, `pad` elements of NaN between rows, guard pages around.
template <class T>
struct Operand {
  std::int64_t rows, cols, ld;
  GuardedBytes memory;
  T* data;

  Operand(std::int64_t rows_, std::int64_t cols_, std::int64_t pad, bool at_end, unsigned seed)
      : rows(rows_),
        cols(cols_),
        ld(cols_ + pad),
        memory(static_cast<std::size_t>(count()) * sizeof(T), at_end),
        data(static_cast<T*>(memory.data())) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::fill(data, data + count(), static_cast<T>(kNaN));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) data[i * ld + j] = static_cast<T>(uniform(engine));
    }
  }
  std::int64_t count() const { return (rows - 1) * ld + cols; }
  std::vector<T> copy() const { return std::vector<T>(data, data + count()); }
};

/// A product in canonical form and how it is laid out.
struct Shape {
  std::int64_t m, n, k;
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 0;
  std::int64_t pad = 0;
  bool at_end = true;
};

std::string describe(const Shape& s) {
  return "m=" + std::to_string(s.m) + " n=" + std::to_string(s.n) + " k=" + std::to_string(s.k) +
         (s.trans_a ? " T" : " N") + (s.trans_b ? "T" : "N") + " alpha=" + std::to_string(s.alpha) +
         " beta=" + std::to_string(s.beta) + " pad=" + std::to_string(s.pad) +
         (s.at_end ? " at end" : " at begin");
}

const Kernel& find_kernel(std::string_view stem, DType dtype) {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.stem == stem && kernel.id.dtype == dtype) return kernel;
  }
  throw std::runtime_error("no kernel " + std::string(stem));
}

std::vector<const Kernel*> simd_kernels(DType dtype) {
  std::vector<const Kernel*> out;
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != "cpu" || kernel.id.dtype != dtype) continue;
    if (kernel.stem != "c01_naive") out.push_back(&kernel);  // it has no vectors
  }
  return out;
}

/// A device whose caches are so small that small products already need many blocks.
DeviceInfo small_caches() {
  DeviceInfo device = cpu_device();
  device.l1_bytes = 4 << 10;
  device.l2_bytes = 24 << 10;
  device.l3_bytes = 0;
  return device;
}

/// Runs a kernel with a workspace of exactly the size it asks for, guarded.
void launch(const Kernel& kernel, const Problem& p, const Operands& operands,
            const DeviceInfo& device, int threads) {
  ASSERT_FALSE(kernel.can_implement(p, device).has_value());
  const std::size_t bytes = kernel.workspace_bytes ? kernel.workspace_bytes(p, device, threads) : 0;
  ASSERT_EQ(bytes % 256, 0U);
  const GuardedBytes workspace(bytes, true);
  if (bytes > 0) std::memset(workspace.data(), 0xFF, bytes);  // NaN in either type
  kernel.launch(p, operands, {device, threads, nullptr, workspace.data(), bytes});
}

/// Every element within |err| <= g u (|alpha| |A||B| + |beta C0|), g counting the roundings: one a
/// step of the sum, and three a depth block (of at least 64 steps) for alpha, beta and the merge.
/// Padding of C and all of A and B keep their bits.
template <class In, class T = In>
void check(const Kernel& kernel, const Shape& s, const DeviceInfo& device, int threads) {
  SCOPED_TRACE(kernel.name + ' ' + device.simd + ' ' + describe(s));
  Operand<In> a(s.trans_a ? s.k : s.m, s.trans_a ? s.m : s.k, s.pad, s.at_end, 11);
  Operand<In> b(s.trans_b ? s.n : s.k, s.trans_b ? s.k : s.n, 2 * s.pad, s.at_end, 22);
  Operand<T> c(s.m, s.n, 3 * s.pad, s.at_end, 33);
  if (s.beta == 0) std::fill(c.data, c.data + c.count(), static_cast<T>(kNaN));
  const std::vector<In> a0 = a.copy(), b0 = b.copy();
  const std::vector<T> c0 = c.copy();

  Problem p;
  p.dtype = DTypeOf<T>::value;
  p.input = DTypeOf<In>::value;
  p.m = s.m;
  p.n = s.n;
  p.k = s.k;
  p.trans_a = s.trans_a;
  p.trans_b = s.trans_b;
  p.lda = a.ld;
  p.ldb = b.ld;
  p.ldc = c.ld;
  p.align_a = p.align_b = sizeof(In);
  p.align_c = sizeof(T);
  launch(kernel, p, {s.alpha, s.beta, a.data, b.data, c.data}, device, threads);

  const double u = unit_roundoff(Precision::kNative, p.dtype);
  const double k = static_cast<double>(s.k);
  const double g = k + 3 * std::ceil(k / 64) + 3;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      long double sum = 0, magnitude = 0;
      for (std::int64_t q = 0; q < s.k; ++q) {
        const long double x = s.trans_a ? a.data[q * a.ld + i] : a.data[i * a.ld + q];
        const long double y = s.trans_b ? b.data[j * b.ld + q] : b.data[q * b.ld + j];
        sum += x * y;
        magnitude += std::fabs(x * y);
      }
      sum *= s.alpha;
      magnitude *= std::fabs(s.alpha);
      if (s.beta != 0) {
        const long double old = c0[static_cast<std::size_t>(i * c.ld + j)];
        sum += s.beta * old;
        magnitude += std::fabs(s.beta * old);
      }
      const long double error = std::fabs(c.data[i * c.ld + j] - sum);
      ASSERT_TRUE(error <= g * u * magnitude)
          << "C(" << i << ", " << j << ") = " << c.data[i * c.ld + j] << ", expected "
          << static_cast<double>(sum) << ", bound " << static_cast<double>(g * u * magnitude);
      c.data[i * c.ld + j] = c0[static_cast<std::size_t>(i * c.ld + j)];
    }
  }
  EXPECT_EQ(std::memcmp(c.data, c0.data(), c0.size() * sizeof(T)), 0) << "padding of C written";
  EXPECT_EQ(std::memcmp(a.data, a0.data(), a0.size() * sizeof(In)), 0) << "A written";
  EXPECT_EQ(std::memcmp(b.data, b0.data(), b0.size() * sizeof(In)), 0) << "B written";
}

/// Shapes around the register tiles (14 x 32, 14 x 16, 6 x 16, 6 x 8, 6 x 12, 6 x 2) and the depth
/// blocks, with all four ops, both kinds of beta, packed and padded.
std::vector<Shape> shapes() {
  std::vector<Shape> out;
  // The last two are whole tiles of every instruction set: their full panels end where the operands
  // do.
  const std::int64_t sizes[][3] = {{1, 1, 1},       {2, 3, 4},    {5, 7, 3},    {6, 16, 8},
                                   {7, 17, 9},      {8, 12, 16},  {13, 31, 15}, {14, 32, 16},
                                   {15, 33, 17},    {29, 65, 63}, {35, 79, 19}, {3, 3, 431},
                                   {1, 257, 3},     {257, 1, 5},  {1, 40, 129}, {17, 100, 70},
                                   {100, 100, 100}, {42, 96, 15}, {84, 96, 18}};
  int number = 0;
  for (const auto& [m, n, k] : sizes) {
    for (int ops = 0; ops < 4; ++ops, ++number) {
      Shape s{m, n, k, (ops & 1) != 0, (ops & 2) != 0};
      s.alpha = number % 3 == 0 ? 1 : -0.75;
      s.beta = number % 2 == 0 ? 0 : 1.5;
      s.pad = number % 5 < 2 ? 0 : number % 5;
      s.at_end = number % 7 != 0;
      out.push_back(s);
    }
  }
  return out;
}

/// Restores the best instruction set when a test ends.
class EverySimd : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(Cpu, EverySimd, testing::ValuesIn(simd_target_names()),
                         [](const auto& target) { return target.param; });

// K4, K3: guard pages stand right after (or before) every operand.
TEST_P(EverySimd, WithinBoundF32) {
  for (const Shape& s : shapes()) {
    for (const Kernel* kernel : simd_kernels(DType::kF32)) {
      check<float>(*kernel, s, cpu_device(), 1);
      check<float>(*kernel, s, small_caches(), 3);
    }
  }
}

TEST_P(EverySimd, WithinBoundF64) {
  for (const Shape& s : shapes()) {
    for (const Kernel* kernel : simd_kernels(DType::kF64)) {
      check<double>(*kernel, s, cpu_device(), 1);
      check<double>(*kernel, s, small_caches(), 3);
    }
  }
}

TEST_P(EverySimd, WithinBoundBf16AndF16) {
  for (const Shape& s : shapes()) {
    for (const Kernel* kernel : simd_kernels(DType::kBF16)) {
      check<BFloat16, float>(*kernel, s, cpu_device(), 1);
      check<BFloat16, float>(*kernel, s, small_caches(), 3);
    }
    for (const Kernel* kernel : simd_kernels(DType::kF16)) {
      check<Float16, float>(*kernel, s, cpu_device(), 1);
      check<Float16, float>(*kernel, s, small_caches(), 3);
    }
  }
}

// Several blocks in every direction, and regions for several threads.
TEST_P(EverySimd, ManyBlocks) {
  for (int ops = 0; ops < 4; ++ops) {
    const bool trans_a = (ops & 1) != 0, trans_b = (ops & 2) != 0;
    const double beta = ops == 1 ? 0 : -1.0;
    // Large; deep, for depth blocks of the real caches; rows of A and of B 4096 bytes apart; a few
    // rows and one, and one column, wider than what is kept of sums and of the vector.
    for (const Shape& s : {Shape{103, 111, 139, trans_a, trans_b, 2, beta, 1, true},
                           Shape{9, 40, 1100, trans_a, trans_b, 1, beta, 3, true},
                           Shape{29, 40, 1024, trans_a, trans_b, 1, beta, 0, true},
                           Shape{30, 1024, 33, trans_a, trans_b, 1, beta, 0, true},
                           Shape{5, 1700, 35, trans_a, trans_b, 1, beta, 0, true},
                           Shape{24, 300, 70, trans_a, trans_b, 1.5, beta, 1, true},
                           Shape{1, 1100, 40, trans_a, trans_b, -2, beta, 1, true},
                           Shape{40, 1, 2100, trans_a, trans_b, -2, beta, 1, true}}) {
      for (const Kernel* kernel : simd_kernels(DType::kF32)) {
        check<float>(*kernel, s, small_caches(), 5);
        check<float>(*kernel, s, cpu_device(), 2);
      }
      for (const Kernel* kernel : simd_kernels(DType::kF64)) {
        check<double>(*kernel, s, small_caches(), 5);
      }
      for (const Kernel* kernel : simd_kernels(DType::kBF16)) {
        check<BFloat16, float>(*kernel, s, small_caches(), 5);
      }
      for (const Kernel* kernel : simd_kernels(DType::kF16)) {
        check<Float16, float>(*kernel, s, small_caches(), 5);
      }
    }
  }
}

// J4: a product has the same bits on any number of threads, whatever path it takes.
TEST_P(EverySimd, SameBitsOnAnyNumberOfThreads) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{150, 170, 300},
                                {70, 80, 90},
                                {1, 3000, 700},
                                {3000, 1, 700},
                                {17, 4100, 300},
                                {2000, 40, 300}}) {
    for (int ops = 0; ops < 4; ++ops) {
      const bool trans_a = (ops & 1) != 0, trans_b = (ops & 2) != 0;
      const Shape s{m, n, k, trans_a, trans_b};
      const Operand<float> a(trans_a ? k : m, trans_a ? m : k, 1, true, 1);
      const Operand<float> b(trans_b ? n : k, trans_b ? k : n, 0, true, 2);
      for (const Kernel* kernel : simd_kernels(DType::kF32)) {
        SCOPED_TRACE(kernel->name + ' ' + describe(s));
        std::vector<float> one;
        for (int threads : {1, 2, 3, 5, 16}) {
          std::vector<float> c(static_cast<std::size_t>(m * n), 0.5F);
          GemmOptions options;
          options.kernel = kernel->name;
          options.threads = threads;
          gemm(trans_a ? Op::kT : Op::kN, trans_b ? Op::kT : Op::kN, 0.7F,
               MatrixView<const float>(a.data, a.rows, a.cols, a.ld),
               MatrixView<const float>(b.data, b.rows, b.cols, b.ld), 0.3F,
               row_major(c.data(), m, n), options);
          if (threads == 1) one = c;
          ASSERT_EQ(std::memcmp(c.data(), one.data(), c.size() * sizeof(float)), 0) << threads;
        }
      }
    }
  }
}

// K3: what lies beside an operand, or was left by an earlier call, does not enter the result.
TEST_P(EverySimd, NeighboursAndLeftoversStayOut) {
  for (const Kernel* kernel : simd_kernels(DType::kF32)) {
    GemmOptions options;
    options.kernel = kernel->name;
    const std::vector<float> poison(64 * 24, std::numeric_limits<float>::quiet_NaN());
    std::vector<float> dump(24 * 24);
    for (int round = 0; round < 2; ++round) {
      float a[8] = {1, 2, 3, 4}, b[8] = {5, 6, 7, 8}, c[8] = {};
      for (int i = 4; i < 8; ++i) a[i] = b[i] = c[i] = std::numeric_limits<float>::quiet_NaN();
      gemm(Op::kN, Op::kT, 1.0F, row_major<const float>(a, 2, 2), row_major<const float>(b, 2, 2),
           0.0F, row_major(c, 2, 2), options);
      EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{17, 23, 39, 53}));
      gemm(Op::kN, Op::kN, 1.0F, row_major(poison.data(), 24, 64), row_major(poison.data(), 64, 24),
           0.0F, row_major(dump.data(), 24, 24), options);
      ASSERT_TRUE(std::isnan(dump[0]));
    }
  }
}

// K3: nor does it raise a floating-point exception, which NumPy would warn of.
TEST_P(EverySimd, NeighboursRaiseNoFlags) {
  for (const Kernel* kernel : simd_kernels(DType::kF32)) {
    GemmOptions options;
    options.kernel = kernel->name;
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{5, 7, 9},
                                  {35, 79, 19},
                                  {100, 50, 300},
                                  {1, 37, 50},
                                  {50, 1, 37},
                                  {17, 2100, 300}}) {
      const std::int64_t ld = n + 5;
      const std::vector<float> a(static_cast<std::size_t>(m * k), 0.0F);
      std::vector<float> b(static_cast<std::size_t>(k * ld),
                           std::numeric_limits<float>::infinity());
      for (std::int64_t p = 0; p < k; ++p) std::fill_n(b.data() + p * ld, n, 1.0F);
      std::vector<float> c(static_cast<std::size_t>(m * n), 1.0F);
      std::feclearexcept(FE_ALL_EXCEPT);
      gemm(Op::kN, Op::kN, 1.0F, row_major(a.data(), m, k),
           MatrixView<const float>(b.data(), k, n, ld), 0.0F, row_major(c.data(), m, n), options);
      EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO), 0)
          << kernel->name << ' ' << m << 'x' << n << 'x' << k;
      EXPECT_EQ(c, std::vector<float>(c.size(), 0.0F)) << kernel->name;
    }
  }
}

// Nor do an infinity in A and what a kernel pads B with. (c02 and c03 pad with zeros.)
TEST_P(EverySimd, PaddingRaisesNoFlags) {
  for (const Kernel* kernel : simd_kernels(DType::kF32)) {
    if (kernel->stem == "c02_blocked" || kernel->stem == "c03_direct") continue;
    GemmOptions options;
    options.kernel = kernel->name;
    for (const Op op_b : {Op::kN, Op::kT}) {
      for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{5, 7, 9}, {17, 2100, 300}}) {
        std::vector<float> a(static_cast<std::size_t>(m * k), 1.0F);
        a[3] = std::numeric_limits<float>::infinity();
        const std::vector<float> b(static_cast<std::size_t>(k * n), 1.0F);
        std::vector<float> c(static_cast<std::size_t>(m * n));
        std::feclearexcept(FE_ALL_EXCEPT);
        gemm(Op::kN, op_b, 1.0F, row_major(a.data(), m, k),
             op_b == Op::kN ? row_major(b.data(), k, n) : row_major(b.data(), n, k), 0.0F,
             row_major(c.data(), m, n), options);
        EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO), 0)
            << kernel->name << ' ' << m << 'x' << n << 'x' << k;
        EXPECT_EQ(c[0], std::numeric_limits<float>::infinity());
        EXPECT_EQ(c[static_cast<std::size_t>(m * n - 1)], static_cast<float>(k));
      }
    }
  }
}

// The bits of an element do not depend on where it lies in C, nor on what surrounds it.
TEST_P(EverySimd, SameBitsAtAnyPosition) {
  const std::int64_t m = 75, n = 131, k = 150;
  const Operand<float> a(m, k, 0, true, 1), b(k, n, 0, true, 2);
  GemmOptions options;
  const auto product = [&](std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t cols) {
    std::vector<float> c(static_cast<std::size_t>(rows * cols), 0.5F);
    gemm(Op::kN, Op::kN, 0.7F, MatrixView<const float>(a.data + i * a.ld, rows, k, a.ld),
         MatrixView<const float>(b.data + j, k, cols, b.ld), 0.3F, row_major(c.data(), rows, cols),
         options);
    return c;
  };
  for (const Kernel* kernel : simd_kernels(DType::kF32)) {
    options.kernel = kernel->name;
    const std::vector<float> whole = product(0, m, 0, n);
    for (std::int64_t i : {0, 1, 13, 60}) {
      for (std::int64_t j : {0, 5, 32, 100}) {
        for (std::int64_t size : {1, 2, 9, 15}) {
          const std::vector<float> part = product(i, size, j, 2 * size);
          for (std::int64_t row = 0; row < size; ++row) {
            ASSERT_EQ(std::memcmp(&part[static_cast<std::size_t>(row * 2 * size)],
                                  &whole[static_cast<std::size_t>((i + row) * n + j)],
                                  static_cast<std::size_t>(2 * size) * sizeof(float)),
                      0)
                << kernel->name << ' ' << i << ' ' << j << ' ' << size;
          }
        }
      }
    }
  }
}

TEST_P(EverySimd, Batched) {
  const std::int64_t m = 9, n = 21, k = 11, batch = 5;
  std::vector<float> a(static_cast<std::size_t>(batch * m * k)), b(static_cast<std::size_t>(k * n)),
      c(static_cast<std::size_t>(batch * m * n), -1.0F);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 11) - 5;
  GemmOptions options;
  options.threads = 3;
  for (const Kernel* kernel : simd_kernels(DType::kF32)) {
    options.kernel = kernel->name;
    gemm_strided_batched(Op::kN, Op::kN, 1.0F, row_major<const float>(a.data(), m, k), m * k,
                         row_major<const float>(b.data(), k, n), 0, 0.0F, row_major(c.data(), m, n),
                         m * n, batch, options);
    for (std::int64_t x = 0; x < batch * m; ++x) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;  // exact: small integers
        for (std::int64_t q = 0; q < k; ++q) sum += a[x * k + q] * b[q * n + j];
        ASSERT_EQ(c[static_cast<std::size_t>(x * n + j)], sum) << x << ' ' << j;
      }
    }
  }
}

TEST_P(EverySimd, IsTheOneReported) {
  EXPECT_EQ(simd_target_name(), GetParam());
  EXPECT_EQ(cpu_device().simd, GetParam());
}

TEST(NaiveKernel, WithinBound) {
  for (const Shape& s : shapes()) {
    check<float>(find_kernel("c01_naive", DType::kF32), s, cpu_device(), 1);
    check<double>(find_kernel("c01_naive", DType::kF64), s, cpu_device(), 1);
    check<BFloat16, float>(find_kernel("c01_naive", DType::kBF16), s, cpu_device(), 1);
    check<Float16, float>(find_kernel("c01_naive", DType::kF16), s, cpu_device(), 1);
  }
}

TEST(BlockedWorkspace, BoundedWhateverTheProblem) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kF16}) {
    const DType output = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
    for (const Kernel* kernel : simd_kernels(dtype)) {
      const auto workspace = [&](const Problem& p, int threads) {
        return kernel->workspace_bytes ? kernel->workspace_bytes(p, cpu_device(), threads) : 0;
      };
      for (std::int64_t size : {1, 100, 5000, 100000, 1000000000}) {
        Problem p;
        p.dtype = output;
        p.input = dtype;
        p.m = size;
        p.n = size + 1;
        p.k = size + 2;
        for (int threads : {1, 2, 3, 16, 17, 64, 256}) {
          for (bool trans_b : {false, true}) {
            p.trans_b = trans_b;
            EXPECT_LE(workspace(p, threads), std::size_t{64} << 20)
                << kernel->name << ' ' << size << ' ' << threads << ' ' << trans_b;
          }
        }
      }
      Problem tiny;
      tiny.dtype = output;
      tiny.input = dtype;
      tiny.m = tiny.n = tiny.k = 8;
      EXPECT_LE(workspace(tiny, 16), std::size_t{64} << 10) << kernel->name;
    }
  }
}

TEST(BlockedWorkspace, HoldsTheBlocksWhateverTheCaches) {
  DeviceInfo device = cpu_device();
  for (const auto& [type, tile] : {std::pair{DType::kF32, TileShape{14, 32}},
                                   {DType::kF64, TileShape{14, 16}},
                                   {DType::kF32, TileShape{6, 16}},
                                   {DType::kF64, TileShape{6, 2}}}) {
    for (std::int64_t size : {1, 7, 100, 513, 3000, 100000}) {
      for (const auto& [l1, l2, l3] : {std::array<std::int64_t, 3>{0, 0, 0},
                                       {4 << 10, 24 << 10, 0},
                                       {32 << 10, 512 << 10, 8 << 20},
                                       {std::int64_t{64} << 20, std::int64_t{1} << 30, 1 << 30}}) {
        device.l1_bytes = l1;
        device.l2_bytes = l2;
        device.l3_bytes = l3;
        device.cores = 1;
        Problem p;
        p.dtype = type;
        p.m = size;
        p.n = 2 * size;
        p.k = size + 3;
        for (int threads : {1, 3, 16, 64, 256}) {
          const Team team = choose_teams(p, threads).team;
          const Blocks blocks = choose_blocks(p, device, tile, team);
          ASSERT_GE(std::min({blocks.mc / tile.rows, blocks.nc / tile.cols, blocks.kc}), 1);
          const std::int64_t depth = even_block(p.k, blocks.kc, kDepthStep);
          // Each block is padded to a cache line.
          const std::int64_t needed =
              (team.threads * blocks.mc + team.shared_blocks() * blocks.nc) * depth *
                  static_cast<std::int64_t>(size_of(type)) +
              64 * (team.threads + team.shared_blocks());
          ASSERT_LE(needed, static_cast<std::int64_t>(team.bytes))
              << to_string(type) << ' ' << tile.rows << 'x' << tile.cols << " size " << size
              << " caches " << l1 << ' ' << l2 << ' ' << l3 << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(DirectWorkspace, HoldsTheBlocksWhateverTheCaches) {
  DeviceInfo device = cpu_device();
  for (const auto& [type, widest] :
       {std::pair{DType::kF32, 64}, {DType::kF64, 32}, {DType::kF32, 16}, {DType::kF64, 2}}) {
    for (std::int64_t size : {1, 7, 100, 513, 3000, 100000}) {
      for (std::int64_t l2 : {std::int64_t{0}, std::int64_t{24} << 10, std::int64_t{2} << 20,
                              std::int64_t{1} << 30}) {
        device.l2_bytes = l2;
        Problem p;
        p.dtype = type;
        p.m = size;
        p.n = p.ldb = 2 * size;
        p.k = size + 3;
        for (const bool trans_b : {false, true}) {
          p.trans_b = trans_b;
          for (int threads : {1, 3, 256}) {
            const std::size_t bytes = direct_worker_bytes(p, device, threads);
            ASSERT_TRUE(bytes > 0 || choose_direct_blocks(p, device, widest, 0, false).b_in_place);
            const DirectBlocks blocks = choose_direct_blocks(p, device, widest, bytes, false);
            ASSERT_GE(blocks.kc, 1);
            if (blocks.b_in_place) continue;
            ASSERT_GE(blocks.nc, widest);
            ASSERT_EQ(blocks.nc % widest, 0);
            ASSERT_GE(blocks.packed_depth, blocks.kc);
            ASSERT_EQ(blocks.packed_depth % blocks.kc, 0);
            ASSERT_LE(blocks.nc * blocks.packed_depth * static_cast<std::int64_t>(size_of(type)),
                      static_cast<std::int64_t>(bytes))
                << to_string(type) << " size " << size << " L2 " << l2 << ", " << threads;
          }
        }
      }
    }
  }
}

// What decides how sums are rounded may depend on the machine alone.
TEST(BlockedWorkspace, DepthOfBlocksIsTheSameForEveryProblem) {
  const TileShape tile{6, 16};
  Problem p;
  p.k = 5000;
  p.m = p.n = 1;
  const std::int64_t depth = choose_blocks(p, cpu_device(), tile, choose_teams(p, 1).team).kc;
  for (std::int64_t size : {2, 100, 1000, 30000}) {
    for (int threads : {1, 4, 64}) {
      p.m = size;
      p.n = 3 * size;
      p.batch = threads;
      EXPECT_EQ(choose_blocks(p, cpu_device(), tile, choose_teams(p, threads).team).kc, depth);
    }
  }
  p.batch = 1;
  p.n = p.ldb = 4096;
  const auto direct = [&](int threads) {
    return choose_direct_blocks(p, cpu_device(), 64, direct_worker_bytes(p, cpu_device(), threads),
                                false);
  };
  const std::int64_t direct_depth = direct(1).kc;
  for (std::int64_t columns : {64, 1000, 30000}) {
    for (int threads : {1, 4, 256}) {
      p.n = p.ldb = columns;
      EXPECT_EQ(direct(threads).kc, direct_depth);
    }
  }
}

TEST(CpuChoice, FollowsTheTableOfRegimes) {
  DeviceInfo device = cpu_device();
  device.l2_bytes = 512 << 10;
  device.l3_bytes = 32 << 20;
  const auto chosen = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a = false) {
    Problem p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.trans_a = trans_a;
    p.lda = p.ldb = p.ldc = std::max({m, n, k});
    return registry().choose(p, device).stem;
  };
  EXPECT_EQ(chosen(2, 2, 2), "c01_naive");
  EXPECT_EQ(chosen(1, 4096, 4096), "c04_matvec");
  EXPECT_EQ(chosen(4096, 1, 4096), "c04_matvec");
  EXPECT_EQ(chosen(16, 4096, 4096), "c05_skinny");
  EXPECT_EQ(chosen(16, 64, 64), "c03_direct");
  EXPECT_EQ(chosen(64, 64, 64), "c03_direct");
  EXPECT_EQ(chosen(4096, 64, 4096), "c03_direct");
  EXPECT_EQ(chosen(4096, 64, 4096, true), "c02_blocked");
  EXPECT_EQ(chosen(333, 333, 333), "c02_blocked");
  EXPECT_EQ(chosen(4096, 4096, 4096), "c02_blocked");
  device.l2_bytes = 2 << 20;
  EXPECT_EQ(chosen(4096, 4096, 4096), "c03_direct");
  EXPECT_EQ(chosen(4096, 4096, 4096, true), "c02_blocked");
  EXPECT_EQ(chosen(4096, 4096, 16), "c02_blocked");
  EXPECT_EQ(chosen(1024, 1024, 16), "c03_direct");
  EXPECT_EQ(chosen(1024, 1024, 16, true), "c02_blocked");
  EXPECT_EQ(chosen(16, 100000, 16), "c03_direct");
  EXPECT_EQ(chosen(16, 16, 100000), "c03_direct");
  device.l3_bytes = 300 << 20;
  EXPECT_EQ(chosen(4096, 4096, 16), "c03_direct");
}

TEST(SimdTargets, UnknownNameIsRefusedWithTheRunnableOnes) {
  const std::string before = simd_target_name();
  try {
    force_simd_target("AVX9000");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    const std::string message = error.what();
    EXPECT_NE(message.find("AVX9000"), std::string::npos) << message;
    for (const std::string& name : simd_target_names()) {
      EXPECT_NE(message.find(name), std::string::npos) << message;
    }
  }
  EXPECT_EQ(simd_target_name(), before);
}

/// Does a target bear the name people give it?
bool in_group(const std::string& target, const std::string& group) {
  const auto is = [&](const char* name) { return strcasecmp(group.c_str(), name) == 0; };
  if (is("scalar")) return target == "SCALAR" || target == "EMU128";
  if (is("avx512")) return target.rfind("AVX3", 0) == 0;
  if (is("neon")) return target.rfind("NEON", 0) == 0;
  return strcasecmp(group.c_str(), target.c_str()) == 0;
}

TEST(SimdTargets, GroupsInAnyCase) {
  for (const char* group : {"scalar", "AVX2", "Avx512", "neon"}) {
    bool runnable = false;
    for (const std::string& name : simd_target_names()) runnable |= in_group(name, group);
    if (runnable) {
      force_simd_target(group);
      EXPECT_TRUE(in_group(simd_target_name(), group)) << group;
    } else {
      EXPECT_THROW(force_simd_target(group), Error) << group;
    }
  }
  force_simd_target("");
  EXPECT_EQ(simd_target_name(), simd_target_names().front());
}

// Run with TESSERA_SIMD set by ctest; alone, it has nothing to look at.
TEST(SimdEnvironment, ForcesOneOrIsRefused) {
  const char* wanted = std::getenv("TESSERA_SIMD");
  if (wanted == nullptr) GTEST_SKIP() << "TESSERA_SIMD is not set";
  const float one = 1;
  float c = 0;
  const auto run = [&] {
    gemm(Op::kN, Op::kN, 2.0F, row_major(&one, 1, 1), row_major(&one, 1, 1), 0.0F,
         row_major(&c, 1, 1));
  };
  bool runnable = false;
  for (const std::string& name : simd_target_names()) runnable |= in_group(name, wanted);
  if (!runnable) {
    EXPECT_THROW(run(), Error);
    EXPECT_EQ(c, 0);
    return;
  }
  run();
  EXPECT_EQ(c, 2);
  EXPECT_TRUE(in_group(simd_target_name(), wanted));
  EXPECT_EQ(cpu_device().simd, simd_target_name());
}

}  // namespace
}  // namespace tessera
