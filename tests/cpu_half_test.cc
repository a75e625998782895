// A and B of 16 bits on the CPU: every code widened exactly, FP32 products and sums, one line for
// what is refused. That the products are right is for kernel_test and cpu_kernel_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/simd_targets.h"
#include "support/compare.h"
#include "support/errors.h"
#include "tessera/gemm.h"
#include "tessera/kernel.h"
#include "tessera/plan.h"

namespace tessera::test {
namespace {

using std::int64_t;

/// The value of a code by the definition of the format.
double value_of(BFloat16 x) {
  const int exponent = x.bits >> 7 & 0xFF, mantissa = x.bits & 0x7F;
  const double sign = x.bits >> 15 ? -1 : 1;
  if (exponent == 0xFF) return mantissa ? std::nan("") : sign * HUGE_VAL;
  return sign * std::ldexp(exponent ? mantissa + 128 : mantissa, std::max(exponent, 1) - 134);
}
double value_of(Float16 x) {
  const int exponent = x.bits >> 10 & 0x1F, mantissa = x.bits & 0x3FF;
  const double sign = x.bits >> 15 ? -1 : 1;
  if (exponent == 0x1F) return mantissa ? std::nan("") : sign * HUGE_VAL;
  return sign * std::ldexp(exponent ? mantissa + 1024 : mantissa, std::max(exponent, 1) - 25);
}

/// The message has every part.
void expect_says(const std::string& message, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) EXPECT_SAYS(message, std::string(part));
}

bool same_value(double x, double y) {
  return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
}

template <class T>
class HalfType : public testing::Test {
 protected:
  static std::vector<std::string> kernels() {
    std::vector<std::string> out;
    for (const Kernel& kernel : registry().kernels()) {
      if (kernel.id.backend == "cpu" && kernel.id.dtype == DTypeOf<T>::value) {
        out.push_back(kernel.name);
      }
    }
    return out;
  }

  /// f, once for each instruction set and kernel.
  template <class F>
  static void for_each_kernel(F f) {
    for (const std::string& simd : simd_target_names()) {
      force_simd_target(simd);
      for (const std::string& kernel : kernels()) {
        SCOPED_TRACE(simd + ' ' + kernel);
        GemmOptions options;
        options.kernel = kernel;
        f(options);
      }
    }
    force_simd_target("");
  }
};

using HalfTypes = testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(HalfType, HalfTypes);

TYPED_TEST(HalfType, EveryCodeConverts) {
  for (int code = 0; code < 1 << 16; ++code) {
    const auto x = TypeParam::from_bits(static_cast<std::uint16_t>(code));
    const float value = x;
    ASSERT_TRUE(same_value(static_cast<double>(value), value_of(x))) << code;
    if (!std::isnan(value)) {
      ASSERT_EQ(TypeParam(value).bits, code);
    } else {
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(value)))) << code;
    }
  }
}

// Every code, subnormals, infinities and NaN too, at every place of a vector: a line of op(A) or
// op(B) is one code among zeros, and meets ones.
TYPED_TEST(HalfType, EveryCodeIsWidenedExactly) {
  constexpr int64_t kCodes = 1 << 16, kDepth = 37;
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    TestMatrix<TypeParam> codes(kCodes, kDepth, layout, 1);
    codes.fill([&](int64_t i, int64_t p, int64_t) {
      return TypeParam::from_bits(static_cast<std::uint16_t>(p == i % kDepth ? i : 0));
    });
    TestMatrix<TypeParam> ones(kDepth, 1);
    ones.fill_constant(TypeParam(1.0F));
    this->for_each_kernel([&](const GemmOptions& options) {
      for (const bool in_a : {true, false}) {
        TestMatrix<float> c(in_a ? kCodes : 1, in_a ? 1 : kCodes);
        if (in_a) {
          gemm(Op::kN, Op::kN, 1.0F, codes.view(), ones.view(), 0.0F, c.view(), options);
        } else {
          gemm(Op::kT, Op::kT, 1.0F, ones.view(), codes.view(), 0.0F, c.view(), options);
        }
        for (int64_t i = 0; i < kCodes; ++i) {
          const double expected = value_of(codes.at(i, i % kDepth));
          const auto got = static_cast<double>(in_a ? c.at(i, 0) : c.at(0, i));
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected)
              << "code " << i << " gives " << got << ", in A " << in_a;
        }
      }
    });
  }
}

// The same path on the same values: packed 16-bit operands are FP32 panels.
TYPED_TEST(HalfType, SameBitsAsFp32OnWidenedInputs) {
  std::mt19937_64 engine(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  for (int round = 0; round < 40; ++round) {
    const int64_t m = pick(1, 90), n = pick(1, 130), k = pick(1, round % 4 == 0 ? 900 : 90);
    const Op op_a = pick(0, 1) ? Op::kT : Op::kN, op_b = pick(0, 1) ? Op::kT : Op::kN;
    const auto layout = [&] { return pick(0, 1) ? Layout::kRowMajor : Layout::kColMajor; };
    const int64_t ma = op_a == Op::kN ? m : k, ka = op_a == Op::kN ? k : m;
    const int64_t kb = op_b == Op::kN ? k : n, nb = op_b == Op::kN ? n : k;
    TestMatrix<TypeParam> a(ma, ka, layout(), pick(0, 9), pick(0, 7)),
        b(kb, nb, layout(), pick(0, 9), pick(0, 7));
    a.fill_normal(static_cast<std::uint64_t>(round) * 2 + 1);
    b.fill_normal(static_cast<std::uint64_t>(round) * 2 + 2);
    TestMatrix<float> wide_a(ma, ka, a.layout()), wide_b(kb, nb, b.layout());
    wide_a.fill([&](int64_t i, int64_t j, int64_t) { return static_cast<float>(a.at(i, j)); });
    wide_b.fill([&](int64_t i, int64_t j, int64_t) { return static_cast<float>(b.at(i, j)); });
    TestMatrix<float> c0(m, n);
    c0.fill_normal(99);
    const float beta = pick(0, 1) ? 0.5F : 0.0F;
    this->for_each_kernel([&](GemmOptions options) {
      TestMatrix<float> expected = c0;
      GemmOptions wide = options;
      wide.kernel = options.kernel.substr(0, options.kernel.rfind('.')) + ".f32";
      gemm(op_a, op_b, 1.5F, wide_a.view(), wide_b.view(), beta, expected.view(), wide);
      for (const int threads : {1, 3}) {
        options.threads = threads;
        TestMatrix<float> c = c0;
        gemm(op_a, op_b, 1.5F, a.view(), b.view(), beta, c.view(), options);
        ASSERT_TRUE(same_bits(c.buffer(), expected.buffer()))
            << m << ' ' << n << ' ' << k << " threads " << threads;
      }
    });
  }
}

// J2: partial sums pass the largest f16 and come back.
TYPED_TEST(HalfType, SumsAreFp32WhateverTheInputs) {
  constexpr int64_t kDepth = 32768;
  TestMatrix<TypeParam> a(3, kDepth), b(kDepth, 2);
  a.fill_constant(TypeParam(64.0F));
  b.fill([](int64_t p, int64_t, int64_t) { return TypeParam(p < kDepth / 2 ? 64.0F : -64.0F); });
  this->for_each_kernel([&](const GemmOptions& options) {
    TestMatrix<float> c(3, 2);
    gemm(Op::kN, Op::kN, 1.0F, a.view(), b.view(), 0.0F, c.view(), options);
    for (int64_t i = 0; i < 6; ++i) ASSERT_EQ(c.at(i / 2, i % 2), 0.0F);
  });
}

TYPED_TEST(HalfType, AutoTakesAKernelForTheTypeWhateverTheShape) {
  const std::string type(to_string(DTypeOf<TypeParam>::value));
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 3000, 300},
                                {3000, 1, 300},
                                {16, 4096, 512},
                                {64, 64, 64},
                                {700, 40, 90},
                                {300, 300, 300}}) {
    GemmDesc desc;
    desc.input = DTypeOf<TypeParam>::value;
    desc.a = {m, k, k};
    desc.b = {k, n, n};
    desc.c = {m, n, n};
    const Plan plan(desc);
    EXPECT_EQ(plan.kernel().substr(plan.kernel().rfind('.') + 1), type) << m << ' ' << n;
    EXPECT_EQ(plan.problem().dtype, DType::kF32);
    EXPECT_EQ(plan.problem().input_dtype(), DTypeOf<TypeParam>::value);
    TestMatrix<TypeParam> a(m, k), b(k, n);
    TestMatrix<float> c(m, n);
    a.fill_integers(1, 3);
    b.fill_integers(2, 3);
    gemm(Op::kN, Op::kN, 1.0F, a.view(), b.view(), 0.0F, c.view());
    const Comparison same = compare_exact(reference_gemm(Op::kN, Op::kN, 1.0, a, b, 0.0, c), c);
    EXPECT_TRUE(same) << plan.kernel() << ": " << same.message;
  }
}

// Overlaps are counted in bytes: two 16-bit elements to one of C.
TYPED_TEST(HalfType, AliasesAreRefusedAndCIsUntouched) {
  alignas(64) float memory[64] = {};
  auto* const halves = reinterpret_cast<TypeParam*>(memory);
  const TypeParam b[4] = {TypeParam(1.0F), TypeParam(2.0F), TypeParam(3.0F), TypeParam(4.0F)};
  const auto multiply = [&](int64_t first_half, int64_t first_float) {
    gemm(Op::kN, Op::kN, 1.0F, row_major<const TypeParam>(halves + first_half, 2, 2),
         row_major(b, 2, 2), 0.0F, row_major(memory + first_float, 2, 2));
  };
  std::fill(memory, memory + 64, 7.0F);
  for (const int64_t first_half : {1, 4, 11}) {  // C is halves 4 to 11; A takes four of them
    EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, [&] { multiply(first_half, 2); }),
                "C shares memory with A");
  }
  for (const float x : memory) ASSERT_EQ(x, 7.0F);
  multiply(0, 2);   // right before C
  multiply(12, 2);  // right behind it
  // Blocks of one matrix with the same pitch in bytes: A is the first 4 bytes of rows of 16.
  MatrixView<const TypeParam> a(halves, 2, 2, 8);
  MatrixView<float> c(memory + 1, 2, 2, 4);
  gemm(Op::kN, Op::kN, 1.0F, a, row_major(b, 2, 2), 0.0F, c);
  a.cols = 3;
  const TypeParam tall[6] = {};
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] { gemm(Op::kN, Op::kN, 1.0F, a, row_major(tall, 3, 2), 0.0F, c); }),
              "C shares memory with A");
}

TYPED_TEST(HalfType, BadArgumentsAreNamed) {
  const std::string type(to_string(DTypeOf<TypeParam>::value));
  TypeParam x[8] = {};
  float c[8] = {};
  const MatrixView<const TypeParam> two = row_major<const TypeParam>(x, 2, 2);
  const auto refusal = [&](ErrorCode code, MatrixView<const TypeParam> a,
                           const GemmOptions& options = {}) {
    return error_of(code,
                    [&] { gemm(Op::kN, Op::kN, 1.0F, a, two, 0.0F, row_major(c, 2, 2), options); });
  };
  MatrixView<const TypeParam> bad = two;
  bad.ld = 1;
  EXPECT_SAYS(refusal(ErrorCode::kInvalidArgument, bad), "lda = 1 is too small");
  bad = two;
  bad.data = nullptr;
  EXPECT_SAYS(refusal(ErrorCode::kInvalidArgument, bad), "A is null");
  bad.data = reinterpret_cast<const TypeParam*>(reinterpret_cast<const char*>(x) + 1);
  EXPECT_SAYS(refusal(ErrorCode::kInvalidArgument, bad), "must be a multiple of 2");

  GemmOptions options;
  options.kernel = "cpu.blocked.f32";
  expect_says(refusal(ErrorCode::kUnsupported, two, options), {"it takes f32", type});
  options.kernel = "cpu.direct";
  expect_says(refusal(ErrorCode::kUnsupported, two, options), {"cpu.direct", type});
  options = {};
  for (const Precision precision : {Precision::kTf32, Precision::kFp64, Precision::kFp32Tensor}) {
    options.precision = precision;
    expect_says(refusal(ErrorCode::kUnsupported, two, options), {to_string(precision), type});
  }
  for (const float value : c) EXPECT_EQ(value, 0.0F);
}

TYPED_TEST(HalfType, ItsOwnPrecisionAndFp32AreTaken) {
  const bool is_bf16 = DTypeOf<TypeParam>::value == DType::kBF16;
  const TypeParam x(3.0F);
  float c = 0;
  GemmOptions options;
  const auto multiply = [&] {
    gemm(Op::kN, Op::kN, 1.0F, row_major(&x, 1, 1), row_major(&x, 1, 1), 0.0F, row_major(&c, 1, 1),
         options);
  };
  for (const Precision precision :
       {Precision::kNative, Precision::kFp32, is_bf16 ? Precision::kBf16 : Precision::kFp16}) {
    options.precision = precision;
    c = 0;
    multiply();
    EXPECT_EQ(c, 9.0F);
  }
  options.precision = is_bf16 ? Precision::kFp16 : Precision::kBf16;
  expect_says(error_of(ErrorCode::kUnsupported, multiply), {to_string(options.precision)});
}

TEST(HalfTypes, CombinationsWithoutAKernelAreRefusedInOneLine) {
  const auto refusal = [](DType input, DType output, Space space = Space::kHost) {
    GemmDesc desc;
    desc.input = input;
    desc.dtype = output;
    desc.space = space;
    desc.a = desc.b = desc.c = {1, 1, 1};
    return error_of(ErrorCode::kUnsupported, [&] { const Plan plan(desc); });
  };
  expect_says(refusal(DType::kBF16, DType::kF64), {"A and B of type bf16", "C of type f64"});
  expect_says(refusal(DType::kF64, DType::kF32), {"A and B of type f64", "C of type f32"});
  expect_says(refusal(DType::kI8, DType::kF32), {"A and B of type i8"});
  expect_says(refusal(DType::kBF16, DType::kBF16), {"C of type bf16"});
  expect_says(refusal(DType::kF16, DType::kF32, Space::kCuda), {"f16", "CUDA"});
  // FP32 operands are never rounded unasked, nor when asked: the caller has the types for it.
  const float x = 1;
  float c = 0;
  GemmOptions options;
  options.precision = Precision::kBf16;
  const auto multiply = [&] {
    gemm(Op::kN, Op::kN, 1.0F, row_major(&x, 1, 1), row_major(&x, 1, 1), 0.0F, row_major(&c, 1, 1),
         options);
  };
  expect_says(error_of(ErrorCode::kUnsupported, multiply), {"bf16", "f32"});
}

}  // namespace
}  // namespace tessera::test
