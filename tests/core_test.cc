// The library around the kernels: argument rules, aliases, registry, choice, plans, names.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/canonical.h"
#include "support/compare.h"
#include "support/errors.h"
#include "tessera/gemm.h"
#include "tessera/plan.h"

namespace tessera::test {
namespace {

void multiply(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c,
              Op op_a = Op::kN, Op op_b = Op::kN, const GemmOptions& options = {}) {
  gemm(op_a, op_b, 1.0f, a, b, 0.0f, c, options);
}

TEST(Arguments, C1_LeadingDimensionTooSmallIsNamed) {
  float a[64] = {}, b[64] = {}, c[64];
  std::fill(c, c + 64, 42.0f);
  const auto says = [&](MatrixView<const float> va, MatrixView<const float> vb,
                        MatrixView<float> vc, const std::string& part) {
    const std::string text = error_of(ErrorCode::kInvalidArgument, [&] { multiply(va, vb, vc); });
    EXPECT_SAYS(text, part);
    for (float x : c) EXPECT_EQ(x, 42.0f);
  };
  const auto row = Layout::kRowMajor;
  const auto col = Layout::kColMajor;
  says({a, 2, 3, 2, row}, {b, 3, 4, 4, row}, {c, 2, 4, 4, row}, "lda = 2 is too small");
  says({a, 2, 3, 2, row}, {b, 3, 4, 4, row}, {c, 2, 4, 4, row}, "must be >= 3");
  says({a, 2, 3, 3, row}, {b, 3, 4, 3, row}, {c, 2, 4, 4, row}, "ldb = 3");
  says({a, 2, 3, 3, row}, {b, 3, 4, 4, row}, {c, 2, 4, 1, col}, "ldc = 1");
  says({a, 2, 3, 3, row}, {b, 3, 4, 4, row}, {c, 2, 4, 1, col}, "must be >= 2");
  says({a, 2, 3, 0, row}, {b, 3, 4, 4, row}, {c, 2, 4, 4, row}, "lda = 0");
  says({a, 2, 3, -3, row}, {b, 3, 4, 4, row}, {c, 2, 4, 4, row}, "lda = -3");
}

TEST(Arguments, ShapesThatDisagree) {
  float a[64] = {}, b[64] = {}, c[64] = {};
  std::string text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply(row_major<const float>(a, 2, 3), row_major<const float>(b, 4, 5), row_major(c, 2, 5));
  });
  EXPECT_SAYS(text, "2 x 3");
  EXPECT_SAYS(text, "4 x 5");
  EXPECT_SAYS(text, "inner");
  text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply(row_major<const float>(a, 2, 3), row_major<const float>(b, 3, 5), row_major(c, 2, 4));
  });
  EXPECT_SAYS(text, "C is 2 x 4");
  EXPECT_SAYS(text, "2 x 5");
  text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply(row_major<const float>(a, -1, 3), row_major<const float>(b, 3, 5), row_major(c, 2, 5));
  });
  EXPECT_SAYS(text, "-1");
}

TEST(Arguments, NullPointersAndHugeSizes) {
  float a[64] = {}, c[64] = {};
  std::string text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply(row_major<const float>(a, 2, 3), row_major<const float>(nullptr, 3, 5),
             row_major(c, 2, 5));
  });
  EXPECT_SAYS(text, "B is null");
  const std::int64_t huge = std::int64_t{1} << 62;
  text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply({a, 5, 2, huge}, row_major<const float>(a, 2, 5), row_major(c, 5, 5));
  });
  EXPECT_SAYS(text, "exceeds 2^63");
  // Null is fine where there are no elements.
  multiply(row_major<const float>(nullptr, 0, 3), row_major<const float>(a, 3, 5),
           row_major<float>(nullptr, 0, 5));
}

TEST(Arguments, C4_SizeOneDimensionsMayHaveAnyLeadingDimension) {
  float a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, c[1];
  for (std::int64_t ld : {std::int64_t{-7}, std::int64_t{0}, std::int64_t{1},
                          std::numeric_limits<std::int64_t>::max()}) {
    c[0] = 0;
    multiply({a, 1, 3, ld}, {b, 3, 1, ld, Layout::kColMajor}, {c, 1, 1, ld});
    EXPECT_EQ(c[0], 32.0f);
  }
  // A broadcast column (stride 0) is not a leading dimension.
  EXPECT_SAYS(
      error_of(ErrorCode::kInvalidArgument,
               [&] {
                 float out[9];
                 multiply({a, 3, 1, 1}, {b, 1, 3, 0, Layout::kColMajor}, row_major(out, 3, 3));
               }),
      "ldb = 0");
}

TEST(Arguments, PromisesNoKernelKeepsAreRefused) {
  float a[4] = {}, b[4] = {}, c[4] = {};
  GemmOptions options;
  options.precision = Precision::kTf32;
  EXPECT_SAYS(error_of(ErrorCode::kUnsupported,
                       [&] {
                         multiply(row_major<const float>(a, 2, 2), row_major<const float>(b, 2, 2),
                                  row_major(c, 2, 2), Op::kN, Op::kN, options);
                       }),
              "tf32");
  options = {};
  options.determinism = Determinism::kBatchInvariant;
  EXPECT_SAYS(error_of(ErrorCode::kUnsupported,
                       [&] {
                         multiply(row_major<const float>(a, 2, 2), row_major<const float>(b, 2, 2),
                                  row_major(c, 2, 2), Op::kN, Op::kN, options);
                       }),
              "batch_invariant");
  options = {};
  options.threads = -1;
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         multiply(row_major<const float>(a, 2, 2), row_major<const float>(b, 2, 2),
                                  row_major(c, 2, 2), Op::kN, Op::kN, options);
                       }),
              "threads = -1");
}

TEST(Arguments, MemorySpacesMustAgree) {
  float a[4] = {}, b[4] = {}, c[4] = {};
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         multiply(row_major<const float>(a, 2, 2, Space::kCuda),
                                  row_major<const float>(b, 2, 2), row_major(c, 2, 2));
                       }),
              "A in CUDA");
}

TEST(Aliases, C3_SharedElementsAreRefusedAndCIsUntouched) {
  std::vector<float> x(5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const std::vector<float> before = x;
  float b[64] = {};
  for (std::int64_t n : {4, 8}) {
    const std::string text = error_of(ErrorCode::kInvalidArgument, [&] {
      multiply(row_major<const float>(x.data(), n, n), row_major<const float>(b, n, n),
               row_major(x.data(), n, n));
    });
    EXPECT_SAYS(text, "C shares memory with A");
  }
  // C starts one row into A; then C is B, with another leading dimension.
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         multiply(row_major<const float>(x.data(), 4, 4),
                                  row_major<const float>(b, 4, 4), row_major(x.data() + 4, 4, 4));
                       }),
              "with A");
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         multiply(row_major<const float>(b, 4, 4),
                                  row_major<const float>(x.data(), 4, 4), {x.data() + 1, 4, 4, 9});
                       }),
              "with B");
  EXPECT_EQ(x, before);
}

/// Ground truth for refuse_aliases: element sets.
bool share_an_element(const OperandDesc& x, std::int64_t x0, const OperandDesc& y,
                      std::int64_t y0) {
  std::vector<bool> used(4096, false);
  const auto each = [](const OperandDesc& d, std::int64_t base, auto f) {
    for (std::int64_t i = 0; i < d.rows; ++i) {
      for (std::int64_t j = 0; j < d.cols; ++j) {
        f(base + (d.layout == Layout::kRowMajor ? i * d.ld + j : i + j * d.ld));
      }
    }
  };
  each(x, x0, [&](std::int64_t e) { used[static_cast<std::size_t>(e)] = true; });
  bool shared = false;
  each(y, y0, [&](std::int64_t e) { shared = shared || used[static_cast<std::size_t>(e)]; });
  return shared;
}

TEST(Aliases, ExactForBlocksOfOneMatrixAndNeverMissed) {
  std::mt19937_64 engine(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  };
  std::vector<float> memory(4096);
  int shared_count = 0, disjoint_count = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t ld = pick(1, 12);
    const bool same_ld = pick(0, 1) == 1;
    GemmDesc desc;
    desc.c.rows = pick(1, 8);
    desc.c.cols = pick(1, ld);
    desc.c.ld = ld;
    desc.a.rows = pick(1, 8);
    desc.a.ld = same_ld ? ld : pick(1, 12);
    desc.a.cols = pick(1, desc.a.ld);
    if (!same_ld && pick(0, 1)) {
      desc.a.layout = Layout::kColMajor;
      std::swap(desc.a.rows, desc.a.cols);
    }
    desc.b.rows = desc.b.cols = 0;
    const std::int64_t c0 = pick(0, 60), a0 = pick(0, 60);
    const bool truth = share_an_element(desc.c, c0, desc.a, a0);
    bool refused = false;
    try {
      refuse_aliases(desc, memory.data() + a0, nullptr, memory.data() + c0);
    } catch (const Error&) {
      refused = true;
    }
    if (truth) {
      ASSERT_TRUE(refused) << i;
    }
    if (same_ld) {
      ASSERT_EQ(refused, truth) << i;
    }
    (truth ? shared_count : disjoint_count)++;
  }
  EXPECT_GT(shared_count, 1000);
  EXPECT_GT(disjoint_count, 1000);
}

TEST(Aliases, StridesAndPitchesBeyondTheAddressSpaceDoNotWrap) {
  GemmDesc desc;
  desc.a = {2, 1, (INT64_C(1) << 61) - 2, Layout::kRowMajor, 0, 4};
  desc.b = {1, 1, 1, Layout::kRowMajor, 0, 4};
  desc.c = {2, 1, 1, Layout::kRowMajor, 0, 4};
  std::vector<float> memory(8);
  // A's last row lies past every address, its first is where C is.
  EXPECT_SAYS(
      error_of(ErrorCode::kInvalidArgument,
               [&] { refuse_aliases(desc, memory.data(), memory.data() + 4, memory.data()); }),
      "shares memory with A");
  // An empty matrix may have any ld.
  const float* const none = nullptr;
  float c[4] = {1, 2, 3, 4};
  gemm(Op::kN, Op::kN, 1.0F, MatrixView<const float>(none, 2, 0, INT64_MAX),
       MatrixView<const float>(none, 0, 2, INT64_MAX), 2.0F, row_major(c, 2, 2));
  EXPECT_EQ(c[3], 8);
}

TEST(Batches, OutputsMayInterleaveButNotOverlap) {
  std::vector<float> a(24), b(24), c(24);
  std::iota(a.begin(), a.end(), 1.0f);
  std::iota(b.begin(), b.end(), 2.0f);
  // Two 2 x 3 products side by side in one 2 x 6 matrix.
  gemm_strided_batched(Op::kN, Op::kN, 1.0f, row_major<const float>(a.data(), 2, 2), 4,
                       row_major<const float>(b.data(), 2, 3), 6, 0.0f,
                       MatrixView<float>(c.data(), 2, 3, 6), 3, 2);
  EXPECT_EQ(c[0], 1 * 2 + 2 * 5);
  EXPECT_EQ(c[3], 5 * 8 + 6 * 11);
  EXPECT_EQ(c[11], 7 * 10 + 8 * 13);
  for (std::int64_t stride : {0, 1, 2, 4}) {
    EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                         [&] {
                           gemm_strided_batched(Op::kN, Op::kN, 1.0f,
                                                row_major<const float>(a.data(), 2, 2), 4,
                                                row_major<const float>(b.data(), 2, 3), 6, 0.0f,
                                                MatrixView<float>(c.data(), 2, 3, 6), stride, 2);
                         }),
                "stride_c");
  }
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         gemm_strided_batched(Op::kN, Op::kN, 1.0f,
                                              row_major<const float>(a.data(), 2, 2), 4,
                                              row_major<const float>(b.data(), 2, 3), 6, 0.0f,
                                              row_major(c.data(), 2, 3), 6, -1);
                       }),
              "batch = -1");
}

struct SparseFloats {
  explicit SparseFloats(std::size_t bytes) : size(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data = p == MAP_FAILED ? nullptr : static_cast<float*>(p);
  }
  ~SparseFloats() { munmap(data, size); }
  SparseFloats(const SparseFloats&) = delete;
  SparseFloats& operator=(const SparseFloats&) = delete;
  float* data;
  std::size_t size;
};

TEST(LargeOffsets, ElementsBeyondTwoToThe31) {
  // Leading dimensions so large that 32-bit offsets would wrap; the memory between is never
  // touched.
  const std::int64_t ld = (std::int64_t{1} << 31) + 11;
  const std::size_t bytes = static_cast<std::size_t>(3 * ld) * sizeof(float);
  // A sparse anonymous mapping stands for the matrix: only touched pages exist.
  const SparseFloats a(bytes), c(bytes);
  ASSERT_NE(a.data, nullptr);
  ASSERT_NE(c.data, nullptr);
  std::vector<float> b = {1, 2, 3, 4, 5, 6};
  for (std::int64_t i = 0; i < 3; ++i) {
    a.data[i * ld] = static_cast<float>(i + 1);
    a.data[i * ld + 1] = static_cast<float>(10 * (i + 1));
  }
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != "cpu" || kernel.id.dtype != DType::kF32) continue;
    GemmOptions options;
    options.kernel = kernel.name;
    gemm(Op::kN, Op::kN, 1.0f, {a.data, 3, 2, ld}, row_major<const float>(b.data(), 2, 3), 0.0f,
         {c.data, 3, 3, ld}, options);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        EXPECT_EQ(c.data[i * ld + j],
                  static_cast<float>(i + 1) * b[static_cast<std::size_t>(j)] +
                      static_cast<float>(10 * (i + 1)) * b[static_cast<std::size_t>(3 + j)])
            << kernel.name;
        c.data[i * ld + j] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
