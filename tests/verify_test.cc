// The check on products of finite numbers: right ones pass, wrong ones fail.
#include "tessera/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "support/errors.h"
#include "tessera/error.h"
#include "verify_support.h"

namespace tessera::test {
namespace {

constexpr VerifyMethod kBoth[] = {VerifyMethod::kFreivalds, VerifyMethod::kFull};

template <class T>
void expect_pass(const Product<T>& p) {
  for (VerifyMethod method : kBoth) {
    const VerifyReport r = p.check(method);
    EXPECT_TRUE(r.passed) << r.to_string();
    EXPECT_LE(r.worst_ratio, 1) << r.to_string();
    EXPECT_EQ(r.row, -1);
  }
}

template <class T>
void expect_fail(const Product<T>& p) {
  for (VerifyMethod method : kBoth) {
    const VerifyReport r = p.check(method);
    EXPECT_FALSE(r.passed) << r.to_string();
    EXPECT_GT(r.worst_ratio, 1) << r.to_string();
    EXPECT_GE(r.row, 0);
    EXPECT_GE(r.col, 0);
  }
}

Product<float> example() { return Product<float>(150, 203, 97).randomize(3).compute(); }

TEST(Verify, RightProductPasses) { expect_pass(example()); }

TEST(Verify, SingleWrongElementFailsAndIsNamed) {
  for (const auto& [i, j] : {std::pair{0, 0}, {149, 202}, {149, 0}, {64, 128}, {77, 33}}) {
    Product<float> p = example();
    p.c(i, j) += 0.5f;
    for (VerifyMethod method : kBoth) {
      const VerifyReport r = p.check(method);
      EXPECT_FALSE(r.passed) << r.to_string();
      EXPECT_EQ(r.row, i);
      EXPECT_EQ(r.col, j);
      EXPECT_EQ(r.got, p.c(i, j));
      EXPECT_NEAR(r.expected, p.exact(i, j), 1e-12 * 97);
      EXPECT_GT(std::abs(r.got - r.expected), r.bound);
      EXPECT_EQ(r.to_string().rfind("WRONG at (", 0), 0u);
    }
  }
}

TEST(Verify, TheFirstOfSeveralWrongElementsIsNamed) {
  Product<float> p = Product<float>(300, 300, 40).randomize(4).compute();
  // In one tile of the recheck, in its neighbours, and later in the same row.
  for (const auto& [i, j] : {std::pair{70, 140}, {70, 141}, {71, 130}, {70, 299}, {299, 0}}) {
    p.c(i, j) += 0.5f;
  }
  for (VerifyMethod method : kBoth) {
    for (int threads : {1, 4}) {
      VerifyOptions options;
      options.method = method;
      options.threads = threads;
      const VerifyReport r = verify(p.problem(), options);
      EXPECT_EQ(r.row, 70) << r.to_string();
      EXPECT_EQ(r.col, 140) << r.to_string();
    }
  }
}

TEST(Verify, SwappedRowsFail) {
  Product<float> p = example();
  for (std::int64_t j = 0; j < p.n; ++j) std::swap(p.c(20, j), p.c(21, j));
  expect_fail(p);
}

TEST(Verify, MissingKTailFails) {
  for (std::int64_t tail : {1, 8, 16}) {
    Product<float> p = example();
    Product<float> shorter = p;
    shorter.k -= tail;
    shorter.compute();
    p.c = shorter.c;
    expect_fail(p);
  }
}

TEST(Verify, UntouchedTileFails) {
  for (float poison : {0.0f, 1e30f, std::nanf("")}) {
    Product<float> p = example();
    for (std::int64_t i = 128; i < 150; ++i) {
      for (std::int64_t j = 192; j < 203; ++j) p.c(i, j) = poison;
    }
    expect_fail(p);
  }
}

TEST(Verify, UntouchedOutputFails) {
  Product<float> p = example();
  std::fill(p.c.data.begin(), p.c.data.end(), 0.0f);
  expect_fail(p);
}

TEST(Verify, ZerosForTinyResultsFail) {
  Product<float> p = Product<float>(100, 90, 64).randomize(5, 1e-4, 1e-4).compute();
  expect_pass(p);
  std::fill(p.c.data.begin(), p.c.data.end(), 0.0f);
  expect_fail(p);
}

TEST(Verify, TransposedResultFails) {
  Product<float> p = Product<float>(96, 96, 40).randomize(6).compute();
  const Matrix<float> c = p.c;
  for (std::int64_t i = 0; i < 96; ++i) {
    for (std::int64_t j = 0; j < 96; ++j) p.c(i, j) = c(j, i);
  }
  expect_fail(p);
}

TEST(Verify, PermutedKOfBFails) {
  Product<float> p = example();
  Product<float> permuted = p;
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t q = 0; q < p.k; ++q) permuted.b(q, j) = p.b((q + 1) % p.k, j);
  }
  p.c = permuted.compute().c;
  expect_fail(p);
}

TEST(Verify, WrongScalarsFail) {
  Product<float> right = Product<float>(80, 70, 60).randomize(7);
  right.alpha = 0.5;
  right.beta = 3;
  right.compute();
  expect_pass(right);
  for (const auto& [alpha, beta] : {std::pair{0.25, 3.0}, {0.5, 0.0}, {1.0, 3.0}, {0.5, 9.0}}) {
    Product<float> wrong = right;
    wrong.alpha = alpha;
    wrong.beta = beta;
    wrong.compute();
    wrong.alpha = 0.5;
    wrong.beta = 3;
    expect_fail(wrong);
  }
}

TEST(Verify, ScalarsAreRoundedToThePrecision) {
  Product<float> p = Product<float>(40, 40, 20).randomize(8);
  p.alpha = 0.1;
  p.beta = 1e-60;  // zero in FP32, so C0 is not read
  p.c0.fill([] { return std::nan(""); });
  p.compute();
  std::fill(p.c0.data.begin(), p.c0.data.end(), std::nanf(""));
  Product<float> same = p;
  same.beta = 0;
  same.compute();
  p.c = same.c;
  expect_pass(p);
}

TEST(Verify, LastBitNoisePasses) {
  Product<float> p = example();
  std::mt19937 bits(9);
  for (float& x : p.c.data) x = std::nextafter(x, bits() % 2 ? 1e30f : -1e30f);
  expect_pass(p);
}

TEST(Verify, BiasedRoundingOverALongSumPasses) {
  const Product<float> p = Product<float>(18, 20, 100000).constant(0.1, 0.1).compute();
  // Far outside what random rounding would give: only the deterministic bound can accept it.
  EXPECT_GT(std::abs(p.c(0, 0) - p.exact(0, 0)), 1e-4 * p.exact(0, 0));
  expect_pass(p);
}

TEST(Verify, CancellationPasses) {
  Product<float> p = Product<float>(30, 30, 400).randomize(10);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t q = 0; q < 200; ++q) p.a(i, 200 + q) = p.a(i, q);
  }
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t q = 0; q < 200; ++q) p.b(200 + q, j) = -p.b(q, j);
  }
  expect_pass(p.compute());
}

TEST(Verify, RowsOfVeryDifferentKindPass) {
  Product<float> p = Product<float>(300, 120, 200).randomize(11);
  for (std::int64_t i = 0; i < p.m; ++i) {
    const float scale = std::ldexp(1.0f, static_cast<int>(i % 60) - 30);
    for (std::int64_t q = 0; q < p.k; ++q) {
      p.a(i, q) = scale * (i % 3 == 0 ? std::abs(p.a(i, q)) : i % 3 == 1 ? p.a(i, q) : 0.1f);
    }
  }
  expect_pass(p.compute());
}

TEST(Verify, ExactProductsCatchEveryError) {
  Product<float> p(120, 110, 50);
  std::mt19937 bits(12);
  p.a.fill([&] { return static_cast<double>(bits() % 7) - 3; });
  p.b.fill([&] { return static_cast<double>(bits() % 7) - 3; });
  p.compute();
  expect_pass(p);
  EXPECT_EQ(p.check().worst_ratio, 0);
  p.c(60, 60) += 1;
  expect_fail(p);
}

TEST(Verify, NaiveKernelPasses) {
  Product<float> p = Product<float>(130, 70, 90, Op::kT, Op::kN, Layout::kColMajor, 3);
  p.randomize(13);
  p.alpha = -1.5;
  p.beta = 0.25;
  p.c = p.c0;
  GemmOptions options;
  options.kernel = "cpu.naive";
  gemm(p.op_a, p.op_b, -1.5f, p.a.view(), p.b.view(), 0.25f, p.c.view(), options);
  expect_pass(p);
}

TEST(Verify, Fp64) {
  Product<double> p = Product<double>(90, 80, 300).randomize(14);
  p.alpha = 0.1;
  p.beta = -0.7;
  p.compute();
  expect_pass(p);
  p.c(89, 79) = p.exact(89, 79) + 1e-9;
  expect_fail(p);
}

TEST(Verify, Fp32ResultFailsAnFp64Check) {
  const Product<double> p = Product<double>(64, 64, 64).randomize(15).compute();
  Product<double> rounded = p;
  for (double& x : rounded.c.data) x = static_cast<double>(static_cast<float>(x));
  expect_fail(rounded);
}

// One random shape, op pair, layout and scalars from a seed.
template <class T>
Product<T> random_product(std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  const auto size = [&] { return 1 + static_cast<std::int64_t>(bits() % (bits() % 4 ? 90 : 260)); };
  const auto op = [&] { return bits() % 2 ? Op::kT : Op::kN; };
  const std::int64_t m = size(), n = size(), k = size();
  const Op op_a = op(), op_b = op();
  const Layout layout = bits() % 2 ? Layout::kColMajor : Layout::kRowMajor;
  Product<T> p(m, n, k, op_a, op_b, layout, static_cast<std::int64_t>(bits() % 5));
  p.randomize(bits(), std::exp2(static_cast<int>(bits() % 20) - 10.0),
              std::exp2(static_cast<int>(bits() % 20) - 10.0));
  if (bits() % 3 == 0) {
    for (T& x : p.a.data) x = std::abs(x);
    for (T& x : p.b.data) x = std::abs(x);
  }
  constexpr double kScalars[] = {1, 0, -1, 0.1, 3.5};
  p.alpha = kScalars[bits() % 5];
  p.beta = kScalars[bits() % 5];
  return p.compute();
}

template <class T>
void check_random_products() {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Product<T> p = random_product<T>(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << p.m << " x " << p.n << " x "
                                    << p.k << ", alpha " << p.alpha << ", beta " << p.beta);
    expect_pass(p);
    std::mt19937_64 bits(seed + 1000);
    const std::int64_t i = static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(p.m));
    const std::int64_t j = static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(p.n));
    const double exact = p.alpha == 0 ? p.beta * p.c0(i, j) : p.exact(i, j);
    for (VerifyMethod method : kBoth) {
      const VerifyReport clean = p.check(method);
      Product<T> wrong = p;
      wrong.c(i, j) = static_cast<T>(exact + 1.5 * clean.detectable_error);
      const VerifyReport r = wrong.check(method);
      EXPECT_GT(std::abs(wrong.c(i, j) - exact), r.detectable_error);
      EXPECT_FALSE(r.passed) << r.to_string();
    }
    // A wrong element names its own bound; well within it, an element is right.
    Product<T> broken = p;
    broken.c(i, j) += static_cast<T>(1e6 + 1e6 * std::abs(exact));
    const VerifyReport named = broken.check(VerifyMethod::kFull);
    ASSERT_FALSE(named.passed);
    Product<T> noisy = p;
    noisy.c(i, j) = static_cast<T>(exact + 0.4 * named.bound);
    EXPECT_TRUE(noisy.check().passed) << noisy.check().to_string();
  }
}

TEST(Verify, RandomProductsF32) { check_random_products<float>(); }
TEST(Verify, RandomProductsF64) { check_random_products<double>(); }

// In every row the pair +1, -1 in the same two columns: it cancels in a round exactly when the two
// signs agree. (A single such row would also stand out in the calibrating vectors.)
int misses(int rounds) {
  Product<float> p = Product<float>(40, 30, 20).randomize(16).compute();
  for (std::int64_t i = 0; i < p.m; ++i) {
    p.c(i, 3) += 1;
    p.c(i, 17) -= 1;
  }
  int count = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const VerifyReport r = p.check(VerifyMethod::kFreivalds, rounds, 77 * seed + 5);
    EXPECT_LT(r.detectable_error, 0.9) << r.to_string();
    count += r.passed;
  }
  return count;
}

TEST(Verify, MissProbabilityHalvesWithEachRound) {
  const int one = misses(1), two = misses(2);
  EXPECT_GE(one, 160);
  EXPECT_LE(one, 240);
  EXPECT_GE(two, 60);
  EXPECT_LE(two, 140);
  EXPECT_EQ(misses(20), 0);
}

// The threshold on sums over rows gives away little of what element by element could promise.
TEST(Verify, SignsDetectAboutWhatAFullCheckDoes) {
  for (const std::int64_t size : {100, 400}) {
    const Product<float> p = Product<float>(size, size, size).randomize(20).compute();
    EXPECT_LE(p.check().detectable_error, 2 * p.check(VerifyMethod::kFull).detectable_error);
  }
}

TEST(Verify, ReportDoesNotDependOnThreads) {
  Product<float> p = Product<float>(300, 210, 170).randomize(17).compute();
  VerifyOptions options;
  options.threads = 1;
  const VerifyReport one = verify(p.problem(), options);
  options.threads = 5;
  const VerifyReport five = verify(p.problem(), options);
  EXPECT_EQ(one.worst_ratio, five.worst_ratio);
  EXPECT_EQ(one.detectable_error, five.detectable_error);
  EXPECT_EQ(one.to_string(), five.to_string());
}

TEST(Verify, ShortRowsAreReadManyAtATime) {
  // A call of a source may cost far more than one element.
  for (VerifyMethod method : kBoth) {
    Product<float> p = Product<float>(6400, 1, 1).randomize(31).compute();
    VerifyProblem problem = p.problem();
    std::atomic<int> calls{0};
    for (MatrixSource* source : {&problem.a, &problem.b, &problem.c}) {
      source->read = [&calls, read = source->read](auto... arguments) {
        ++calls;
        read(arguments...);
      };
    }
    VerifyOptions options;
    options.method = method;
    EXPECT_TRUE(verify(problem, options).passed);
    EXPECT_GE(calls, 3);
    EXPECT_LE(calls, 3 * 6400 / 64);
  }
}

TEST(Verify, RowsBeyondTheFirstGroup) {
  // Residuals are held for 2^18 rows at a time.
  Product<float> p = Product<float>((1 << 18) + 5000, 17, 17).randomize(37).compute();
  VerifyOptions options;
  options.threads = 5;
  const VerifyReport right = verify(p.problem(), options);
  EXPECT_TRUE(right.passed) << right.to_string();
  EXPECT_EQ(right.method, VerifyMethod::kFreivalds);
  for (const std::int64_t row : {std::int64_t{5}, p.m - 4990, p.m - 1}) {
    const float before = p.c(row, 3);
    p.c(row, 3) += 1;
    const VerifyReport wrong = verify(p.problem(), options);
    EXPECT_FALSE(wrong.passed) << row;
    EXPECT_EQ(wrong.row, row);
    EXPECT_EQ(wrong.col, 3);
    p.c(row, 3) = before;
  }
}

TEST(Verify, ThousandsOfThreads) {
  VerifyOptions options;
  // Scratch memory for as many would take terabytes.
  options.threads = 1 << 24;
  EXPECT_TRUE(verify(example().problem(), options).passed);
}

TEST(Verify, DeepProductWithFewRows) {
  Product<float> p = Product<float>(20, 24, 70000).randomize(18).compute();
  expect_pass(p);
  // The bound grows with k, so that a relevant error here is a large one.
  p.c(19, 23) += 500;
  expect_fail(p);
}

TEST(Verify, RefusesWhatItCannotCheck) {
  const Product<float> p = example();
  const auto refused = [](const VerifyProblem& problem, const VerifyOptions& options = {}) {
    try {
      verify(problem, options);
    } catch (const Error& e) {
      return e.code() == ErrorCode::kInvalidArgument;
    }
    return false;
  };
  EXPECT_FALSE(refused(p.problem()));
  VerifyProblem q = p.problem();
  q.op_a = Op::kT;
  EXPECT_TRUE(refused(q));
  q = p.problem();
  q.c.rows -= 1;
  EXPECT_TRUE(refused(q));
  q = p.problem();
  q.beta = 1;
  EXPECT_TRUE(refused(q));  // C0 is 0 x 0
  q = p.problem();
  q.c.read = nullptr;
  EXPECT_TRUE(refused(q));
  q = p.problem();
  q.precision = Precision::kTf32;
  EXPECT_TRUE(refused(q));
  q = p.problem();
  q.c_dtype = DType::kI32;
  EXPECT_TRUE(refused(q));
  VerifyOptions options;
  options.rounds = 0;
  EXPECT_TRUE(refused(p.problem(), options));
  options.rounds = 61;
  EXPECT_TRUE(refused(p.problem(), options));
  options.rounds = 60;
  EXPECT_FALSE(refused(p.problem(), options));
  options.threads = -1;
  EXPECT_TRUE(refused(p.problem(), options));
}

TEST(Verify, RefusesViewsThatCannotBeRead) {
  const float x[4] = {};
  using View = MatrixView<const float>;
  const auto refusal = [](const View& view) {
    return error_of(ErrorCode::kInvalidArgument, [&] { source_of(view); });
  };
  EXPECT_SAYS(refusal(View(x, 2, 2, 2, Layout::kRowMajor, Space::kCuda)), "device memory");
  EXPECT_SAYS(refusal(View(x, 2, 2, 1)), "ld = 1");
  EXPECT_SAYS(refusal(View(x, 2, 2, 1, Layout::kColMajor)), "column-major");
  EXPECT_SAYS(refusal(View(nullptr, 2, 2, 2)), "null");
  EXPECT_SAYS(refusal(View(x, -1, 2, 2)), "-1 x 2");
  // ld is never used to step, or there is nothing to read.
  source_of(View(x, 1, 4, 0));
  source_of(View(x, 4, 1, 0, Layout::kColMajor));
  source_of(View(nullptr, 0, 4, 4));
}

TEST(Verify, ProgressRisesToOneAndStops) {
  for (VerifyMethod method : kBoth) {
    Product<float> p = Product<float>(200, 40, 30).randomize(19).compute();
    VerifyOptions options;
    options.method = method;
    double last = 0;
    options.progress = [&](double fraction) {
      EXPECT_GE(fraction, last);
      last = fraction;
      return true;
    };
    p.c(3, 3) = std::nanf("");
    EXPECT_FALSE(verify(p.problem(), options).passed);
    EXPECT_GE(last, 0.9);
    EXPECT_LE(last, 1);
    options.progress = [](double) { return false; };
    error_of(ErrorCode::kCancelled, [&] { verify(p.problem(), options); });
  }
}

TEST(Verify, SourceErrorsReachTheCaller) {
  const Product<float> p = example();
  VerifyProblem q = p.problem();
  q.b.read = [](std::int64_t, std::int64_t, std::int64_t, std::int64_t, double*, std::int64_t) {
    throw std::runtime_error("disk gone");
  };
  EXPECT_THROW(verify(q), std::runtime_error);
}

}  // namespace
}  // namespace tessera::test
