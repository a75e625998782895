// The comparer's own tests: a comparer that passes everything proves nothing.
#include "support/compare.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessera::test {
namespace {

struct Fixture {
  TestMatrix<float> a{7, 5}, b{5, 9}, c{7, 9};
  Reference reference;

  Fixture() {
    a.fill_normal(1);
    b.fill_normal(2);
    c.fill_normal(3);
    reference = reference_gemm(Op::kN, Op::kN, 1.0, a, b, 0.0, c);
    c.fill([&](std::int64_t i, std::int64_t j, std::int64_t) {
      return static_cast<float>(reference.value[static_cast<std::size_t>(i * 9 + j)]);
    });
  }
};

TEST(Compare, AcceptsTheRightProduct) {
  Fixture f;
  EXPECT_TRUE(compare(f.reference, f.c)) << compare(f.reference, f.c).message;
}

TEST(Compare, RejectsNaNAndInfinity) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                    -std::numeric_limits<float>::infinity()}) {
    Fixture f;
    f.c.at(6, 8) = bad;
    EXPECT_FALSE(compare(f.reference, f.c));
    EXPECT_FALSE(compare_exact(f.reference, f.c));
  }
}

TEST(Compare, RejectsOneWrongElementWherever) {
  for (std::int64_t i = 0; i < 7; ++i) {
    for (std::int64_t j = 0; j < 9; ++j) {
      Fixture f;
      f.c.at(i, j) += 1e-4f;
      EXPECT_FALSE(compare(f.reference, f.c)) << i << ", " << j;
    }
  }
}

TEST(Compare, RejectsAnUntouchedOutput) {
  Fixture f;
  TestMatrix<float> untouched(7, 9);
  EXPECT_FALSE(compare(f.reference, untouched));
  TestMatrix<float> zeros(7, 9);
  zeros.fill_constant(0);
  EXPECT_FALSE(compare(f.reference, zeros));
}

TEST(Compare, RejectsZerosWhenTheProductIsTiny) {  // H1
  TestMatrix<float> a(16, 64), b(64, 16), c(16, 16);
  a.fill_normal(1);
  b.fill_normal(2);
  for (auto* x : {&a, &b}) {
    for (std::int64_t i = 0; i < x->rows(); ++i) {
      for (std::int64_t j = 0; j < x->cols(); ++j) x->at(i, j) *= 1e-4f;
    }
  }
  c.fill_constant(0);
  EXPECT_FALSE(compare(reference_gemm(Op::kN, Op::kN, 1.0, a, b, 0.0, c), c));
}

TEST(Compare, RejectsATransposedProduct) {  // H3
  TestMatrix<float> a(8, 6), b(6, 8), c(8, 8), ct(8, 8);
  a.fill_normal(1);
  b.fill_normal(2);
  const Reference r = reference_gemm(Op::kN, Op::kN, 1.0, a, b, 0.0, c);
  ct.fill([&](std::int64_t i, std::int64_t j, std::int64_t) {
    return static_cast<float>(r.value[static_cast<std::size_t>(j * 8 + i)]);
  });
  EXPECT_FALSE(compare(r, ct));
}

TEST(Compare, DemandsTheSameInfinityAndNaN) {
  Fixture f;
  f.reference.value[0] = std::numeric_limits<double>::infinity();
  f.reference.value[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compare(f.reference, f.c));
  f.c.at(0, 0) = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(compare(f.reference, f.c));
  f.c.at(0, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(compare(f.reference, f.c));
  f.c.at(0, 0) = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(compare(f.reference, f.c));
}

TEST(Compare, GuardsSeeOneChangedElementOutside) {
  TestMatrix<float> c(3, 4, Layout::kRowMajor, 2);
  c.fill_constant(1);
  EXPECT_TRUE(c.surroundings_intact());
  TestMatrix<float> inside_pad = c;
  inside_pad.buffer()[static_cast<std::size_t>(c.offset() + 4)] = 0;
  EXPECT_FALSE(inside_pad.surroundings_intact());
  TestMatrix<float> before = c;
  before.buffer()[static_cast<std::size_t>(c.offset() - 1)] = 0;
  EXPECT_FALSE(before.surroundings_intact());
}

}  // namespace
}  // namespace tessera::test
