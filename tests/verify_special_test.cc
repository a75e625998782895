// The check where numbers end: NaN, infinities, overflow, underflow, empty and unread operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "tessera/verify.h"
#include "verify_support.h"

namespace tessera::test {
namespace {

constexpr VerifyMethod kBoth[] = {VerifyMethod::kFreivalds, VerifyMethod::kFull};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
void expect(bool passes, const Product<T>& p) {
  for (VerifyMethod method : kBoth) {
    const VerifyReport r = p.check(method);
    EXPECT_EQ(r.passed, passes) << r.to_string();
  }
}

// Larger than 16 each way, so that both methods are in fact used.
Product<float> example(Op op_a = Op::kN, Op op_b = Op::kN) {
  return Product<float>(70, 150, 40, op_a, op_b).randomize(21);
}

TEST(VerifySpecial, NanOrInfinityInCFails) {
  for (float wrong : {kNan, kInf, -kInf}) {
    for (const auto& [i, j] : {std::pair{0, 0}, {69, 149}, {69, 0}, {0, 149}, {33, 128}}) {
      Product<float> p = example().compute();
      p.c(i, j) = wrong;
      expect(false, p);
      EXPECT_EQ(p.check().row, i);
      EXPECT_EQ(p.check().col, j);
    }
  }
}

TEST(VerifySpecial, SpecialValuesInInputsMustComeThrough) {
  for (Op op : {Op::kN, Op::kT}) {
    for (float value : {kNan, kInf, -kInf}) {
      Product<float> in_a = example(op, op);
      (op == Op::kN ? in_a.a(13, 7) : in_a.a(7, 13)) = value;
      expect(true, in_a.compute());
      Product<float> in_b = example(op, op);
      (op == Op::kN ? in_b.b(7, 13) : in_b.b(13, 7)) = value;
      expect(true, in_b.compute());
      Product<float> in_c0 = example(op, op);
      in_c0.beta = 2;
      in_c0.c0(13, 14) = value;
      expect(true, in_c0.compute());

      // Lost, or turned into another special value.
      for (float wrong : {0.0f, value == kInf ? -kInf : kInf}) {
        Product<float> p = in_a;
        p.c(13, 140) = wrong == p.c(13, 140) ? -wrong : wrong;
        expect(false, p);
        p = in_b;
        p.c(69, 13) = wrong == p.c(69, 13) ? -wrong : wrong;
        expect(false, p);
        p = in_c0;
        p.c(13, 14) = wrong;
        expect(false, p);
      }
      // A wrong number beside a special one is still found, in the same row and the same column.
      for (const auto& [i, j] : {std::pair{13, 100}, {69, 13}, {14, 14}}) {
        Product<float> p = in_b;
        p.c(i, j) += 1;
        if (j != 13) expect(false, p);
        p = in_c0;
        p.c(i, j) += 1;
        expect(false, p);
      }
    }
  }
}

TEST(VerifySpecial, SpreadBySkippedZeroFails) {
  Product<float> p = example();
  for (std::int64_t q = 0; q < p.k; ++q) p.a(20, q) = 0;
  p.b(0, 9) = kInf;
  expect(true, p.compute());
  ASSERT_TRUE(std::isnan(p.c(20, 9)));  // 0 * inf
  p.c(20, 9) = 0;
  expect(false, p);
}

TEST(VerifySpecial, AllNan) {
  Product<float> p = example();
  for (float& x : p.b.data) x = kNan;
  expect(true, p.compute());
  p.c(40, 40) = 0;
  expect(false, p);
}

// A NaN in B costs its own block of columns, not a second look at all of C.
TEST(VerifySpecial, OneNanInBDoesNotRecheckEverything) {
  Product<float> p = Product<float>(2000, 1024, 20).randomize(22);
  p.b(7, 13) = kNan;
  p.compute();
  VerifyProblem counted = p.problem();
  std::atomic<std::int64_t> elements{0};
  counted.b.read = [&, read = counted.b.read](std::int64_t row, std::int64_t col, std::int64_t rows,
                                              std::int64_t cols, double* out, std::int64_t ld) {
    elements += rows * cols;
    read(row, col, rows, cols, out, ld);
  };
  const VerifyReport r = verify(counted);
  EXPECT_TRUE(r.passed) << r.to_string();
  EXPECT_EQ(r.method, VerifyMethod::kFreivalds);
  // For each 64 rows once 128 of the 1024 columns; beside that B as a whole a few times.
  EXPECT_LE(elements, (2000 / 64 + 1) * 128 * p.k + 4 * p.k * p.n);
}

TEST(VerifySpecial, NonFiniteScalars) {
  for (double scalar : {static_cast<double>(kNan), static_cast<double>(kInf)}) {
    Product<float> p = example();
    p.alpha = scalar;
    expect(true, p.compute());
    p.c(40, 40) = 1;
    expect(false, p);
    p = example();
    p.beta = scalar;
    expect(true, p.compute());
    p.c(40, 40) = 1;
    expect(false, p);
  }
}

TEST(VerifySpecial, MagnitudesNearTheEndsOfF32) {
  for (const auto& [a, b] : {std::pair{1e30, 1e-30},
                             {1e-30, 1e-12},
                             {1e-40, 1},
                             {1e-22, 1e-22},
                             {1e18, 1e18},
                             {1e-30, 1e-30}}) {
    Product<float> p = Product<float>(50, 60, 70).randomize(22, a, b);
    expect(true, p.compute());
  }
  Product<float> p = Product<float>(50, 60, 70).randomize(23, 1e-20, 1e-20).compute();
  p.c(1, 2) += 1e-37f;
  expect(false, p);
}

TEST(VerifySpecial, OverflowOfF32IsAccepted) {
  Product<float> p = Product<float>(40, 50, 60).randomize(24, 1e19, 1e19);
  expect(true, p.compute());
  bool overflowed = false;
  for (float x : p.c.data) overflowed = overflowed || std::isinf(x);
  EXPECT_TRUE(overflowed);
  Product<float> finite = Product<float>(40, 50, 60).randomize(24, 1e17, 1e17).compute();
  expect(true, finite);
  finite.c(3, 4) = kInf;
  expect(false, finite);
  Product<float> large = Product<float>(40, 50, 60).constant(1e19, 1e19).compute();
  expect(true, large);
  large.c(2, 2) = 3e38f;  // the exact value is far beyond the largest float
  expect(false, large);
}

TEST(VerifySpecial, MagnitudesNearTheEndsOfF64) {
  for (const auto& [a, b] : {std::pair{1e150, 1e150},
                             {1e153, 1e153},
                             {1e200, 1e100},
                             {1e-160, 1e-160},
                             {1e-200, 1e-50},
                             {1e-310, 1},
                             {1e300, 1e-300}}) {
    Product<double> p = Product<double>(30, 40, 50).randomize(25, a, b);
    expect(true, p.compute());
    p.c(20, 20) = p.c(20, 20) == 0 ? 1 : std::isfinite(p.c(20, 20)) ? 1.5 * p.c(20, 20) : 0;
    if (a * b > 1e-300) expect(false, p);
  }
}

TEST(VerifySpecial, OverflowOfTheF64ReferenceIsNotAFailure) {
  // |A||B| passes the largest double although the sums cancel exactly in the order computed.
  Product<double> p = Product<double>(30, 40, 50).constant(1e160, 1e148);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t q = 1; q < p.k; q += 2) p.a(i, q) = -p.a(i, q);
  }
  p.a(4, 0) *= 2;
  expect(true, p.compute());
  EXPECT_EQ(p.c(5, 6), 0);
  // Scalars that take the result out of range and back.
  Product<double> scaled = Product<double>(30, 40, 50).randomize(26, 1e100, 1e100);
  scaled.alpha = 1e-150;
  expect(true, scaled.compute());
  Product<double> huge = Product<double>(30, 40, 50).randomize(27, 1e100, 1e100);
  huge.alpha = 1e200;
  expect(true, huge.compute());
  huge.c(2, 2) = 5;
  expect(false, huge);
  // Far beyond the largest double, and no overflow seen.
  Product<double> lost = Product<double>(30, 40, 50).constant(1e160, 1e160).compute();
  expect(true, lost);
  lost.c(7, 7) = 1e300;
  expect(false, lost);
}

struct Stored {
  DType dtype;
  int mantissa_bits;
  double spacing, largest;
};
constexpr Stored kStored[] = {{DType::kF16, 11, 0x1p-24, 65504},
                              {DType::kBF16, 8, 0x1p-133, 0x1.fep127},
                              {DType::kF8E4M3, 4, 0x1p-9, 448},
                              {DType::kF8E5M2, 3, 0x1p-16, 57344}};

float round_to(float x, const Stored& s) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::max(std::ldexp(1.0, exponent - s.mantissa_bits), s.spacing);
  const double rounded = std::nearbyint(static_cast<double>(x) / step) * step;
  if (std::abs(rounded) <= s.largest) return static_cast<float>(rounded);
  return s.dtype == DType::kF8E4M3 ? kNan : std::copysign(kInf, x);
}

TEST(VerifySpecial, NarrowOutputTypes) {
  for (const Stored& s : kStored) {
    for (double scale : {0.002, 0.5, 40.0}) {
      Product<float> p = Product<float>(60, 70, 45).randomize(28, scale, 1).compute();
      const Product<float> exact = p;
      p.c_dtype = s.dtype;
      for (float& x : p.c.data) x = round_to(x, s);
      expect(true, p);
      // Two steps of the type away is wrong.
      std::int64_t i = 0;
      while (std::abs(exact.c(i, 9)) < 2 * s.spacing) ++i;
      int exponent = 0;
      std::frexp(exact.c(i, 9), &exponent);
      p.c(i, 9) =
          exact.c(i, 9) +
          static_cast<float>(2 * std::max(std::ldexp(1.0, exponent - s.mantissa_bits), s.spacing));
      EXPECT_FALSE(p.check(VerifyMethod::kFull).passed);
    }
  }
}

TEST(VerifySpecial, OverflowOfTheStoredType) {
  Product<float> p = Product<float>(60, 70, 45).randomize(29, 100, 100);
  p.c_dtype = DType::kF16;
  p.compute();
  for (float& x : p.c.data) x = round_to(x, kStored[0]);
  expect(true, p);
  std::int64_t at = 0;
  while (!std::isinf(p.c.data[static_cast<std::size_t>(at)])) ++at;
  Product<float> sign = p, nan = p;
  sign.c.data[static_cast<std::size_t>(at)] *= -1;
  expect(false, sign);
  nan.c.data[static_cast<std::size_t>(at)] = kNan;
  expect(false, nan);
}

// F8_E4M3 has no infinity: NaN stands for it, and the largest number does not.
TEST(VerifySpecial, InfinityInATypeWithout) {
  Product<float> p = Product<float>(60, 70, 45).randomize(31, 0.05, 0.05);
  p.a(13, 7) = kInf;
  p.c_dtype = DType::kF8E4M3;
  p.compute();
  const Stored& e4m3 = *std::find_if(std::begin(kStored), std::end(kStored),
                                     [](const Stored& s) { return s.dtype == DType::kF8E4M3; });
  for (float& x : p.c.data) x = std::isinf(x) ? kNan : round_to(x, e4m3);
  expect(true, p);
  for (float wrong : {448.0f, -448.0f, 0.0f}) {
    p.c(13, 40) = wrong;
    expect(false, p);
  }
}

TEST(VerifySpecial, OperandsAreRoundedToFp32) {
  Product<double> wide = Product<double>(40, 150, 50).randomize(30);
  wide.a(5, 6) = 1e200;  // infinite in FP32
  wide.b(7, 8) = 1e-60;  // zero in FP32
  // In a row where nothing else is, scaled to what FP32 holds: only rounding makes it zero.
  wide.c0.fill([] { return 0.0; });
  wide.c0(9, 10) = 1e-60;
  for (std::int64_t q = 0; q < wide.k; ++q) wide.a(9, q) = 0;
  Product<float> narrow(40, 150, 50);
  narrow.beta = 1e38;
  const auto copy = [](const Matrix<double>& from, Matrix<float>& to) {
    for (std::size_t i = 0; i < from.data.size(); ++i)
      to.data[i] = static_cast<float>(from.data[i]);
  };
  copy(wide.a, narrow.a);
  copy(wide.b, narrow.b);
  copy(wide.c0, narrow.c0);
  narrow.compute();
  ASSERT_EQ(narrow.c(9, 10), 0.0f);
  ASSERT_FALSE(std::isfinite(narrow.c(5, 0)));
  VerifyProblem p = narrow.problem();
  p.a = source_of(wide.a.view());
  p.b = source_of(wide.b.view());
  p.c0 = source_of(wide.c0.view());
  for (VerifyMethod method : kBoth) {
    VerifyOptions options;
    options.method = method;
    const VerifyReport r = verify(p, options);
    EXPECT_TRUE(r.passed) << r.to_string();
  }
}

TEST(VerifySpecial, UnreadOperands) {
  Product<float> p = example();
  p.alpha = 0;
  p.beta = 0.5;
  p.compute();
  VerifyProblem q = p.problem();
  q.a.read = nullptr;
  q.b.read = nullptr;
  EXPECT_TRUE(verify(q).passed);
  p.c(69, 149) += 1;
  EXPECT_FALSE(verify(q).passed);

  Product<float> zero(70, 150, 40);
  zero.alpha = 0;
  q = zero.problem();
  q.a.read = nullptr;
  q.b.read = nullptr;
  EXPECT_TRUE(verify(q).passed);
  zero.c(3, 3) = kNan;
  EXPECT_FALSE(verify(q).passed);
}

TEST(VerifySpecial, EmptyDimensions) {
  for (const auto& [m, n, k] :
       {std::tuple{0, 5, 3}, {5, 0, 3}, {0, 0, 0}, {20, 30, 0}, {1, 1, 1}}) {
    Product<float> p(m, n, k);
    p.alpha = 2;
    expect(true, p.compute());
  }
  Product<float> p(20, 30, 0);
  p.beta = 3;
  p.c0.fill([] { return 2; });
  expect(true, p.compute());
  p.c(19, 29) = 2;
  expect(false, p);
}

}  // namespace
}  // namespace tessera::test
