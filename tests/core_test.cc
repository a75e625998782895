// The library around the kernels: argument rules, aliases, registry, choice, plans, names.
#include <gtest/gtest.h>

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
  EXPECT_SAYS(text, "A is 5 x 2");
  EXPECT_SAYS(text, "exceeds 2^63");
  text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply(row_major<const float>(a, 5, 3), {a, 3, 2, huge}, row_major(c, 5, 2));
  });
  EXPECT_SAYS(text, "B is 3 x 2 with ldb = 4611686018427387904");
  text = error_of(ErrorCode::kInvalidArgument, [&] {
    multiply(row_major<const float>(a, 5, 3), row_major<const float>(a, 3, 2), {c, 5, 2, huge});
  });
  EXPECT_SAYS(text, "C is 5 x 2 with ldc = 4611686018427387904");
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
  const auto broadcast = [&] {
    float out[9];
    multiply({a, 3, 1, 1}, {b, 1, 3, 0, Layout::kColMajor}, row_major(out, 3, 3));
  };
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, broadcast), "ldb = 0");
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

TEST(Arguments, AddressesBeyondTheEndAreRefused) {
  // Sizes that fit 63 bits, but not behind the pointer; ld where it never steps is no size at all.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[1] = {-1};
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         gemm(Op::kN, Op::kN, 1.0f, {a, 1, kMost / 4, kMost / 4},
                              {b, kMost / 4, 1, 1}, 0.0f, row_major(c, 1, 1));
                       }),
              "beyond 2^63");
  EXPECT_EQ(c[0], -1);
  gemm(Op::kN, Op::kN, 1.0f, {a, 1, 4, kMost}, {b, 4, 1, 1}, 0.0f, {c, 1, 1, kMost});
  EXPECT_EQ(c[0], 70);
  GemmOptions options;
  options.threads = 4097;
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         gemm(Op::kN, Op::kN, 1.0f, row_major<const float>(a, 1, 4),
                              row_major<const float>(b, 4, 1), 0.0f, row_major(c, 1, 1), options);
                       }),
              "threads = 4097");
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
  // A's last row lies past every address; refused for that, before its first is found to be C.
  EXPECT_SAYS(
      error_of(ErrorCode::kInvalidArgument,
               [&] { refuse_aliases(desc, memory.data(), memory.data() + 4, memory.data()); }),
      "beyond 2^63");
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
  // With a gap between them, up to the very end of the row.
  std::fill(c.begin(), c.end(), -1.0f);
  gemm_strided_batched(Op::kN, Op::kN, 1.0f, row_major<const float>(a.data(), 2, 2), 4,
                       row_major<const float>(b.data(), 2, 3), 6, 0.0f,
                       MatrixView<float>(c.data(), 2, 3, 8), 5, 2);
  EXPECT_EQ(c[5], 5 * 8 + 6 * 11);
  EXPECT_EQ(c[15], 7 * 10 + 8 * 13);
  for (std::int64_t unwritten : {3, 4, 11, 12}) {
    EXPECT_EQ(c[static_cast<std::size_t>(unwritten)], -1.0f);
  }
  for (std::int64_t stride : {0, 1, 2, 4, 8, -4, -8}) {
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

TEST(Batches, StridesMayBeNegative) {
  std::vector<float> a(24), b(24), c(24, -1), forward(24, -1);
  std::iota(a.begin(), a.end(), 1.0f);
  std::iota(b.begin(), b.end(), 2.0f);
  const auto run = [&](float* out, bool backward) {
    // Three 2 x 2 products; backward starts at the last and walks down.
    const std::int64_t first = backward ? 16 : 0, step = backward ? -8 : 8;
    gemm_strided_batched(Op::kN, Op::kT, 1.0f, row_major<const float>(a.data() + first, 2, 2), step,
                         row_major<const float>(b.data() + first, 2, 2), step, 0.0f,
                         row_major(out + first, 2, 2), step, 3);
  };
  run(forward.data(), false);
  run(c.data(), true);
  EXPECT_EQ(forward[0], 1 * 2 + 2 * 3);
  EXPECT_EQ(forward[19], 19 * 20 + 20 * 21);
  EXPECT_EQ(forward[4], -1);
  EXPECT_EQ(c, forward);
}

TEST(Batches, NoneTouchesNothing) {
  // Not even looked at: there may be no memory at all.
  gemm_strided_batched(Op::kN, Op::kN, 1.0f, row_major<const float>(nullptr, 2, 2), 4,
                       row_major<const float>(nullptr, 2, 2), 4, 0.0f,
                       row_major<float>(nullptr, 2, 2), 4, 0);
}

TEST(Batches, AliasesOfAnyMemberAreRefused) {
  std::vector<float> x(64, 1.0f), b(4, 1.0f);
  const std::vector<float> before = x;
  const auto refused = [&](std::int64_t a0, std::int64_t stride_a, std::int64_t c0,
                           std::int64_t stride_c) {
    try {
      gemm_strided_batched(Op::kN, Op::kN, 1.0f, row_major<const float>(x.data() + a0, 2, 2),
                           stride_a, row_major<const float>(b.data(), 2, 2), 0, 0.0f,
                           row_major(x.data() + c0, 2, 2), stride_c, 4);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_SAYS(std::string(e.what()), "C shares memory with A");
      EXPECT_EQ(x, before);
      return true;
    }
    x = before;
    return false;
  };
  EXPECT_TRUE(refused(0, 4, 12, 4)) << "the last A is the first C";
  EXPECT_TRUE(refused(0, 0, 24, -8)) << "the last C is A";
  EXPECT_TRUE(refused(40, -8, 16, 4)) << "the last A is the first C";
  EXPECT_FALSE(refused(0, 4, 16, 4)) << "one after the other";
  EXPECT_FALSE(refused(12, -4, 28, -4)) << "one after the other, backwards";
}

TEST(Batches, SpansThatDoNotFitAreRefused) {
  std::vector<float> a(4), b(4), c(4);
  for (const std::int64_t stride :
       {std::int64_t{1} << 61, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                         [&] {
                           gemm_strided_batched(Op::kN, Op::kN, 1.0f,
                                                row_major<const float>(a.data(), 2, 2), stride,
                                                row_major<const float>(b.data(), 2, 2), 0, 0.0f,
                                                row_major(c.data(), 2, 2), 4, 3);
                         }),
                "exceeds 2^63");
  }
}

TEST(Canonical, KeepsWhatEachOperandPromises) {
  // Distinct values everywhere, so that nothing can be taken from the wrong operand.
  GemmDesc d;
  d.a = {5, 7, 9, Layout::kRowMajor, 1000, 64};
  d.b = {7, 6, 10, Layout::kColMajor, 2000, 32};
  d.c = {5, 6, 12, Layout::kRowMajor, 3000, 16};
  Canonical x = canonicalise(d, {});
  EXPECT_FALSE(x.swapped);
  EXPECT_EQ((std::vector<std::int64_t>{x.problem.m, x.problem.n, x.problem.k, x.problem.lda,
                                       x.problem.ldb, x.problem.ldc}),
            (std::vector<std::int64_t>{5, 6, 7, 9, 10, 12}));
  EXPECT_FALSE(x.problem.trans_a);
  EXPECT_TRUE(x.problem.trans_b);
  // 36 bytes from row to row of A leave 4, 40 leave 8, 48 leave 16.
  EXPECT_EQ(x.problem.align_a, 4);
  EXPECT_EQ(x.problem.align_b, 8);
  EXPECT_EQ(x.problem.align_c, 16);

  d.c.layout = Layout::kColMajor;
  d.c.ld = 8;
  d.a.ld = 16;
  d.b.ld = 8;
  d.batch = 2;
  d.b.batch_stride = -1002;  // 8 bytes divide its size in bytes, 16 do not
  x = canonicalise(d, {});
  EXPECT_TRUE(x.swapped);
  EXPECT_EQ((std::vector<std::int64_t>{x.problem.m, x.problem.n, x.problem.k, x.problem.lda,
                                       x.problem.ldb, x.problem.ldc, x.problem.stride_a,
                                       x.problem.stride_b, x.problem.stride_c}),
            (std::vector<std::int64_t>{6, 5, 7, 8, 16, 8, -1002, 1000, 3000}));
  EXPECT_FALSE(x.problem.trans_a);  // B^T of a column-major B
  EXPECT_TRUE(x.problem.trans_b);
  EXPECT_EQ(x.problem.align_a, 8);
  EXPECT_EQ(x.problem.align_b, 32);  // 64 promised, a stride of 4000 bytes leaves 32
  EXPECT_EQ(x.problem.align_c, 16);
  // What is never used to step limits nothing.
  d.a = {1, 7, 3, Layout::kRowMajor, 0, 64};
  d.c = {1, 6, 6, Layout::kRowMajor, 0, 16};
  d.batch = 1;
  x = canonicalise(d, {});
  EXPECT_EQ(x.problem.align_a, 64);
  EXPECT_EQ(x.problem.align_c, 16);
  EXPECT_EQ(x.problem.lda, 7);
  d.a.ld = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(canonicalise(d, {}).problem.lda, 7);
  d.a.alignment = 48;
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, [&] { canonicalise(d, {}); }),
              "alignment of A = 48");
}

}  // namespace
}  // namespace tessera::test
