// Every CUDA kernel where launches, addresses and memory are special to CUDA.
#include <cmath>
#include <limits>

#include "cuda_support.h"

namespace tessera {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
bool same_bits(T x, T y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}

/// A rows x cols matrix with padded rows, `offset` elements into its allocation, guards around it.
template <class T>
struct Padded {
  std::int64_t rows, cols, ld;
  std::size_t offset;
  std::vector<T> host;

  Padded(std::int64_t rows_, std::int64_t cols_, std::int64_t pad, std::size_t offset_, T fill)
      : rows(rows_),
        cols(cols_),
        ld(cols_ + pad),
        offset(offset_),
        host(offset_ + static_cast<std::size_t>(rows_ * ld) + 8, fill) {}
  T& at(std::int64_t i, std::int64_t j) { return host[offset + i * ld + j]; }
  bool is_element(std::size_t index) const {
    if (index < offset || index >= offset + rows * ld) return false;
    return static_cast<std::int64_t>(index - offset) % ld < cols;
  }
  void fill(std::uint64_t seed) {
    const std::vector<T> values = whole_numbers<T>(rows * cols, seed);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) at(i, j) = values[i * cols + j];
    }
  }
  template <class U>
  MatrixView<U> view(const DeviceArray<T>& x) const {
    return {x.data() + offset, rows, cols, ld, Layout::kRowMajor, Space::kCuda};
  }
};

/// A and B aligned to `alignment` elements and no better, padding and guards full of NaN: the
/// result is exact and no element but C's is written. C starts one element off and has odd rows.
template <class T>
void expect_exact(const std::string& kernel, std::int64_t alignment, Op op_a, Op op_b, T alpha,
                  T beta) {
  constexpr std::int64_t m = 131, n = 67, k = 37;
  // An odd multiple of the alignment.
  const auto pad = [&](std::int64_t cols) {
    const std::int64_t runs = (cols + alignment - 1) / alignment;
    return (runs + 1 - runs % 2) * alignment - cols;
  };
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::int64_t a_cols = op_a == Op::kN ? k : m, b_cols = op_b == Op::kN ? n : k;
  const auto offset = static_cast<std::size_t>(alignment);
  Padded<T> a(op_a == Op::kN ? m : k, a_cols, pad(a_cols), offset, nan);
  Padded<T> b(op_b == Op::kN ? k : n, b_cols, pad(b_cols), offset, nan);
  Padded<T> c(m, n, 7, 1, T{-777});
  a.fill(1);
  b.fill(2);
  c.fill(3);
  Padded<T> expected = c;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum +=
            (op_a == Op::kN ? a.at(i, p) : a.at(p, i)) * (op_b == Op::kN ? b.at(p, j) : b.at(j, p));
      }
      expected.at(i, j) = alpha * sum + (beta == 0 ? T{0} : beta * c.at(i, j));
      if (beta == 0) c.at(i, j) = nan;
    }
  }
  const DeviceArray<T> da(a.host), db(b.host), dc(c.host);
  gemm(op_a, op_b, alpha, a.template view<const T>(da), b.template view<const T>(db), beta,
       c.template view<T>(dc), with_kernel(kernel));
  const std::vector<T> got = dc.download();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(got[i] == expected.host[i])
        << kernel << (op_a == Op::kT ? " T" : " N") << (op_b == Op::kT ? "T" : "N") << " alpha "
        << alpha << " beta " << beta << (c.is_element(i) ? ", element " : ", guard ") << i << ": "
        << got[i] << " instead of " << expected.host[i];
  }
}

template <class T>
void expect_exact_in_all_ops(DType dtype) {
  for (Op op_a : {Op::kN, Op::kT}) {
    for (Op op_b : {Op::kN, Op::kT}) {
      for (std::int64_t alignment : {std::int64_t{1}, std::int64_t{16 / sizeof(T)}}) {
        const int bytes = static_cast<int>(alignment * sizeof(T));
        for (const std::string& kernel : cuda_kernel_names(dtype, bytes)) {
          expect_exact<T>(kernel, alignment, op_a, op_b, 1, 0);
          expect_exact<T>(kernel, alignment, op_a, op_b, -2, T{0.5});
        }
      }
    }
  }
}

TEST(CudaKernels, SmallestAlignmentOddPitchesAndGuards) {
  expect_exact_in_all_ops<float>(DType::kF32);
  expect_exact_in_all_ops<double>(DType::kF64);
}

TEST(CudaKernels, BetaZeroNeverReadsC) {
  const DeviceArray<float> ones(std::vector<float>(9, 1));
  const auto input = row_major<const float>(ones.data(), 3, 3, Space::kCuda);
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    for (float poison : {kNan, std::numeric_limits<float>::infinity()}) {
      for (float zero : {0.0F, -0.0F}) {
        DeviceArray<float> c(std::vector<float>(9, poison));
        gemm(Op::kN, Op::kN, 1.0F, input, input, zero, row_major(c.data(), 3, 3, Space::kCuda),
             with_kernel(kernel));
        EXPECT_EQ(c.download(), std::vector<float>(9, 3)) << kernel;
      }
    }
  }
}

TEST(CudaKernels, NanAndInfinityPropagate) {
  const float inf = std::numeric_limits<float>::infinity();
  const DeviceArray<float> a(std::vector<float>(4, 0)), b(std::vector<float>{inf, 0, 0, 0});
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    DeviceArray<float> c(std::vector<float>(4, 5));
    gemm(Op::kN, Op::kN, 1.0F, row_major<const float>(a.data(), 2, 2, Space::kCuda),
         row_major<const float>(b.data(), 2, 2, Space::kCuda), 0.0F,
         row_major(c.data(), 2, 2, Space::kCuda), with_kernel(kernel));
    const std::vector<float> got = c.download();
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[2])) << kernel << ": 0 * inf is NaN";
    EXPECT_TRUE(got[1] == 0 && got[3] == 0) << kernel;
  }
}

TEST(CudaKernels, AliasesAreRefusedAndCStays) {
  const std::vector<float> values = whole_numbers<float>(20, 4);
  const DeviceArray<float> x(values), y(values);
  const auto b = row_major<const float>(y.data(), 4, 4, Space::kCuda);
  for (std::int64_t shift : {0, 4}) {  // C = A, and C one row into A
    const std::string message = error_of(ErrorCode::kInvalidArgument, [&] {
      gemm(Op::kN, Op::kN, 1.0F, row_major<const float>(x.data(), 4, 4, Space::kCuda), b, 0.0F,
           row_major(x.data() + shift, 4, 4, Space::kCuda));
    });
    EXPECT_NE(message.find("shares memory with A"), std::string::npos) << message;
  }
  EXPECT_EQ(x.download(), values);
}

template <class T>
void expect_scaled(T beta) {
  constexpr std::int64_t m = 33, n = 70, batch = 3;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Padded<T> c(m * batch, n, 5, 1, T{-777});
  c.fill(5);
  if (beta == 0) c.at(2, 3) = nan;
  std::vector<T> expected = c.host;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (c.is_element(i)) expected[i] = beta == 0 ? T{0} : beta * expected[i];
  }
  const DeviceArray<T> dc(c.host), nans(std::vector<T>(m * n, nan));
  // alpha == 0: A and B are not read.
  gemm_strided_batched(Op::kN, Op::kN, T{0}, row_major<const T>(nans.data(), m, 2, Space::kCuda), 0,
                       row_major<const T>(nans.data(), 2, n, Space::kCuda), 0, beta,
                       MatrixView<T>(dc.data() + 1, m, n, c.ld, Layout::kRowMajor, Space::kCuda),
                       m * c.ld, batch);
  EXPECT_EQ(dc.download(), expected) << "beta = " << beta;
}

TEST(CudaScale, LeavesPaddingAndReadsNothingItNeedNot) {
  for (double beta : {0.0, -0.0, 0.5, -3.0, 1.0}) {
    expect_scaled(static_cast<float>(beta));
    expect_scaled(beta);
  }
}

TEST(CudaScale, BetaOneLeavesEvenNan) {
  DeviceArray<float> c(std::vector<float>(4, kNan));
  const auto none = [](std::int64_t rows, std::int64_t cols) {
    return MatrixView<const float>(nullptr, rows, cols, 1, Layout::kRowMajor, Space::kCuda);
  };
  gemm(Op::kN, Op::kN, 1.0F, none(2, 0),
       MatrixView<const float>(nullptr, 0, 2, 2, Layout::kRowMajor, Space::kCuda), 1.0F,
       row_major(c.data(), 2, 2, Space::kCuda));
  for (float x : c.download()) EXPECT_TRUE(same_bits(x, kNan));
}

/// A(i, p) of the tall problem below: a function of both, cheap to compute.
float tall_element(std::int64_t i, std::int64_t p) {
  return static_cast<float>((i * 7 + p * 3) % 11 - 5);
}

TEST(CudaLimits, MoreRowTilesThanGridYTakes) {
  constexpr std::int64_t n = 16, k = 16;
  const std::vector<float> b = whole_numbers<float>(k * n, 6);
  const DeviceArray<float> db(b);
  for (std::int64_t m : {65535 * 16 + 1, 65535 * 128 + 1}) {
    std::vector<float> a(m * k), expected(m * n);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t p = 0; p < k; ++p) a[i * k + p] = tall_element(i, p);
      // tall_element has period 11 in i.
      for (std::int64_t j = 0; j < n; ++j) {
        if (i >= 11) {
          expected[i * n + j] = expected[(i - 11) * n + j];
          continue;
        }
        for (std::int64_t p = 0; p < k; ++p) expected[i * n + j] += a[i * k + p] * b[p * n + j];
      }
    }
    const DeviceArray<float> da(a);
    const DeviceArray<float> dc(m * n);
    for (const std::string& kernel : cuda_kernel_names(DType::kF32, 16)) {
      ASSERT_CUDA(cudaMemset(dc.data(), 0xFF, dc.size() * sizeof(float)));  // NaN
      gemm(Op::kN, Op::kN, 1.0F, row_major<const float>(da.data(), m, k, Space::kCuda),
           row_major<const float>(db.data(), k, n, Space::kCuda), 0.0F,
           row_major(dc.data(), m, n, Space::kCuda), with_kernel(kernel));
      EXPECT_TRUE(dc.download() == expected) << kernel << ", m = " << m;
    }
  }
}

/// Every element 1, but two: found only by offsets past 2^31.
TEST(CudaLimits, OffsetsPast32Bits) {
  constexpr std::int64_t rows = 35783, cols = 65133;
  constexpr std::size_t elements = static_cast<std::size_t>(rows) * cols;
  if (cuda::free_bytes() < elements * sizeof(float) + (std::size_t{1} << 30)) {
    GTEST_SKIP() << "needs " << elements * sizeof(float) << " bytes of GPU memory";
  }
  const DeviceArray<float> a(elements);
  const std::vector<float> row(cols, 1), two{2};
  ASSERT_CUDA(cudaMemcpy(a.data(), row.data(), cols * sizeof(float), cudaMemcpyHostToDevice));
  for (std::size_t done = cols; done < elements; done *= 2) {
    const std::size_t count = std::min(done, elements - done);
    ASSERT_CUDA(
        cudaMemcpy(a.data() + done, a.data(), count * sizeof(float), cudaMemcpyDeviceToDevice));
  }
  for (std::size_t at : {elements - 1, elements - 1 - 3 * cols}) {
    ASSERT_CUDA(cudaMemcpy(a.data() + at, two.data(), sizeof(float), cudaMemcpyHostToDevice));
  }
  const DeviceArray<float> ones(std::vector<float>(cols, 1));
  const auto view = row_major<const float>(a.data(), rows, cols, Space::kCuda);
  // The sums stay below 2^24, so they are exact in any order.
  std::vector<float> row_sums(rows, cols), col_sums(cols, rows);
  row_sums[rows - 1] += 1;
  row_sums[rows - 4] += 1;
  col_sums[cols - 1] += 2;
  const DeviceArray<float> c(cols);
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    for (Op op : {Op::kN, Op::kT}) {
      const std::vector<float>& expected = op == Op::kN ? row_sums : col_sums;
      const std::int64_t m = op == Op::kN ? rows : cols, k = op == Op::kN ? cols : rows;
      ASSERT_CUDA(cudaMemset(c.data(), 0xFF, c.size() * sizeof(float)));
      gemm(op, Op::kN, 1.0F, view, row_major<const float>(ones.data(), k, 1, Space::kCuda), 0.0F,
           row_major(c.data(), m, 1, Space::kCuda), with_kernel(kernel));
      std::vector<float> got = c.download();
      got.resize(m);
      EXPECT_TRUE(got == expected) << kernel << (op == Op::kN ? " N" : " T");
    }
  }
}

TEST(CudaLimits, MoreBatchMembersThanGridZTakes) {
  constexpr std::int64_t batch = 65536 + 3;
  std::vector<float> a(batch * 2), expected(batch);
  for (std::int64_t i = 0; i < batch; ++i) {
    a[2 * i] = static_cast<float>(i % 1000);
    a[2 * i + 1] = 1;
    expected[i] = 3 * a[2 * i] + 5;
  }
  const DeviceArray<float> da(a), db(std::vector<float>{3, 5});
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    DeviceArray<float> c(std::vector<float>(batch, kNan));
    gemm_strided_batched(Op::kN, Op::kN, 1.0F,
                         row_major<const float>(da.data(), 1, 2, Space::kCuda), 2,
                         row_major<const float>(db.data(), 2, 1, Space::kCuda), 0, 0.0F,
                         row_major(c.data(), 1, 1, Space::kCuda), 1, batch, with_kernel(kernel));
    EXPECT_TRUE(c.download() == expected) << kernel;
  }
}

}  // namespace
}  // namespace tessera
