// Sizes and offsets past 32 bits on the CPU: tall and wide products, sparse huge leading
// dimensions.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <vector>

#include "tessera/gemm.h"
#include "tessera/kernel.h"

namespace tessera::test {
namespace {

/// Address space of which only touched pages exist.
class SparseMemory {
 public:
  explicit SparseMemory(std::size_t bytes) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = p == MAP_FAILED ? nullptr : p;
  }
  ~SparseMemory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

template <class T>
T& element(const MatrixView<T>& v, std::int64_t i, std::int64_t j) {
  return v.data[v.layout == Layout::kRowMajor ? i * v.ld + j : i + j * v.ld];
}

GemmOptions named(const Kernel& kernel) {
  GemmOptions options;
  options.kernel = kernel.name;
  return options;
}

template <class F>
void for_each_cpu_kernel(DType dtype, F f) {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend == "cpu" && kernel.id.dtype == dtype) f(kernel);
  }
}

// D1: leading dimensions so large that 32-bit offsets would wrap, in every operand, op and layout.
template <class In, class T = In>
void expect_right_beyond_two_to_the_31() {
  constexpr std::int64_t size = 3, ld = (std::int64_t{1} << 31) + 11;
  const std::size_t bytes = static_cast<std::size_t>(size * ld) * sizeof(T);
  const SparseMemory a_memory(bytes), b_memory(bytes), c_memory(bytes);
  if (a_memory.data() == nullptr || b_memory.data() == nullptr || c_memory.data() == nullptr) {
    GTEST_SKIP() << "no address space for three times " << bytes << " bytes";
  }
  for_each_cpu_kernel(DTypeOf<In>::value, [&](const Kernel& kernel) {
    for (int variant = 0; variant < 16; ++variant) {
      const Op op_a = variant & 1 ? Op::kT : Op::kN, op_b = variant & 2 ? Op::kT : Op::kN;
      const Layout layout_in = variant & 4 ? Layout::kColMajor : Layout::kRowMajor;
      const Layout layout_c = variant & 8 ? Layout::kColMajor : Layout::kRowMajor;
      const MatrixView<In> a(static_cast<In*>(a_memory.data()), size, size, ld, layout_in);
      const MatrixView<In> b(static_cast<In*>(b_memory.data()), size, size, ld, layout_in);
      const MatrixView<T> c(static_cast<T*>(c_memory.data()), size, size, ld, layout_c);
      for (std::int64_t i = 0; i < size; ++i) {
        for (std::int64_t j = 0; j < size; ++j) {
          element(a, i, j) = static_cast<In>(static_cast<T>(1 + i + 5 * j));
          element(b, i, j) = static_cast<In>(static_cast<T>(2 - 3 * i + j));
          element(c, i, j) = static_cast<T>(i - 7 * j);
        }
      }
      gemm(op_a, op_b, T{2}, MatrixView<const In>(a), MatrixView<const In>(b), T{3}, c,
           named(kernel));
      for (std::int64_t i = 0; i < size; ++i) {
        for (std::int64_t j = 0; j < size; ++j) {
          T sum = 0;
          for (std::int64_t p = 0; p < size; ++p) {
            sum += (op_a == Op::kN ? element(a, i, p) : element(a, p, i)) *
                   (op_b == Op::kN ? element(b, p, j) : element(b, j, p));
          }
          ASSERT_EQ(element(c, i, j), 2 * sum + 3 * static_cast<T>(i - 7 * j))
              << kernel.name << ", variant " << variant << ", element " << i << ", " << j;
        }
      }
    }
  });
}

TEST(LargeOffsets, ElementsBeyondTwoToThe31F32) { expect_right_beyond_two_to_the_31<float>(); }
TEST(LargeOffsets, ElementsBeyondTwoToThe31F64) { expect_right_beyond_two_to_the_31<double>(); }
TEST(LargeOffsets, ElementsBeyondTwoToThe31Bf16AndF16) {
  expect_right_beyond_two_to_the_31<BFloat16, float>();
  expect_right_beyond_two_to_the_31<Float16, float>();
}

// D1: members of a batch farther apart than 2^31 elements, forwards and backwards.
TEST(LargeOffsets, BatchStridesBeyondTwoToThe31) {
  constexpr std::int64_t stride = (std::int64_t{1} << 31) + 5;
  const std::size_t bytes = static_cast<std::size_t>(stride + 4) * sizeof(float);
  const SparseMemory a_memory(bytes), b_memory(bytes), c_memory(bytes);
  if (a_memory.data() == nullptr || b_memory.data() == nullptr || c_memory.data() == nullptr) {
    GTEST_SKIP() << "no address space for three times " << bytes << " bytes";
  }
  float* const a = static_cast<float*>(a_memory.data());
  float* const b = static_cast<float*>(b_memory.data());
  float* const c = static_cast<float*>(c_memory.data());
  a[0] = 2;
  a[stride] = 3;
  b[0] = 5;
  b[stride] = 7;
  for_each_cpu_kernel(DType::kF32, [&](const Kernel& kernel) {
    // A walks up, B down: 2 * 7 and 3 * 5.
    gemm_strided_batched(Op::kN, Op::kN, 1.0f, row_major<const float>(a, 1, 1), stride,
                         row_major<const float>(b + stride, 1, 1), -stride, 0.0f,
                         row_major(c, 1, 1), stride, 2, named(kernel));
    EXPECT_EQ(c[0], 14.0f) << kernel.name;
    EXPECT_EQ(c[stride], 15.0f) << kernel.name;
    c[0] = c[stride] = -1;
  });
}

// D3: more rows (columns, in the other layout) than 65535 tiles of 128 hold.
TEST(LargeSizes, MoreRowsThan65535Tiles) {
  constexpr std::int64_t m = 65535 * 128 + 1, n = 2, k = 2, period = 11;
  std::vector<float> a(m * k), c(m * n);
  const std::vector<float> b = {3, -5, 7, 2};
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    const bool rows = layout == Layout::kRowMajor;
    const MatrixView<float> va(a.data(), m, k, rows ? k : m, layout);
    const MatrixView<float> vc(c.data(), m, n, rows ? n : m, layout);
    for (std::int64_t i = 0; i < m; ++i) {
      element(va, i, 0) = static_cast<float>(i % period);
      element(va, i, 1) = static_cast<float>(i % 3 - 1);
    }
    for_each_cpu_kernel(DType::kF32, [&](const Kernel& kernel) {
      std::fill(c.begin(), c.end(), -1000.0f);
      gemm(Op::kN, Op::kN, 1.0f, MatrixView<const float>(va),
           row_major<const float>(b.data(), k, n), 0.0f, vc, named(kernel));
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const float x = static_cast<float>(i % period), y = static_cast<float>(i % 3 - 1);
        for (std::int64_t j = 0; j < n; ++j) {
          wrong += element(vc, i, j) !=
                   x * b[static_cast<std::size_t>(j)] + y * b[static_cast<std::size_t>(n + j)];
        }
      }
      EXPECT_EQ(wrong, 0) << kernel.name << (rows ? ", row-major" : ", column-major");
    });
  }
}

}  // namespace
}  // namespace tessera::test
