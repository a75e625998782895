// Conversions, every bit pattern of the small formats, against arithmetic with ldexp.
#include "io/convert.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "io_support.h"
#include "tessera/half.h"

namespace tessera::io {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A small format as its definition states it.
struct Format {
  DType dtype;
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int bytes() const { return bits() / 8; }
  int codes() const { return 1 << bits(); }
  int sign_bit() const { return 1 << (bits() - 1); }
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {{DType::kF16, 5, 10, 15, true},
                                          {DType::kBF16, 8, 7, 127, true},
                                          {DType::kF8E4M3, 4, 3, 7, false},
                                          {DType::kF8E5M2, 5, 2, 15, true}};
  return all;
}

double value_of(const Format& f, int code) {
  const int mantissa = code & ((1 << f.mantissa_bits) - 1);
  const int exponent = (code >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const double sign = code & f.sign_bit() ? -1 : 1;
  const int top = (1 << f.exponent_bits) - 1;
  if (f.has_infinity && exponent == top) return mantissa == 0 ? sign * kInf : std::nan("");
  if (!f.has_infinity && exponent == top && mantissa == (1 << f.mantissa_bits) - 1) {
    return std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp((1 << f.mantissa_bits) + mantissa, exponent - f.bias - f.mantissa_bits);
}

std::string code_bytes(const Format& f, int code, bool big_endian = false) {
  return number(static_cast<std::uint64_t>(code), f.bytes(), big_endian);
}

template <class T>
T widen_one(DType dtype, const std::string& bytes, bool big_endian = false) {
  T out = -77;
  widen(dtype, big_endian, as_bytes(bytes).data(), 1, &out);
  return out;
}

template <class T>
int narrow_one(const Format& f, T value) {
  std::byte out[8] = {};
  narrow(f.dtype, &value, 1, out);
  return f.bytes() == 1 ? std::to_integer<int>(out[0])
                        : std::to_integer<int>(out[0]) | std::to_integer<int>(out[1]) << 8;
}

/// Equal as numbers, with the sign of zero; NaN equals NaN only.
void expect_same(double got, double want, const std::string& what) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << what;
    return;
  }
  ASSERT_TRUE(got == want && std::signbit(got) == std::signbit(want))
      << what << ": " << got << " instead of " << want;
}

/// Nearest code, ties to even, found by search among all codes: independent of bit tricks.
/// The first number past the largest finite one counts as the overflow value.
int nearest_code(const Format& f, double value) {
  const int sign = std::signbit(value) ? f.sign_bit() : 0;
  const double magnitude = std::fabs(value);
  int top = f.sign_bit() - 1;  // first code that is not finite
  while (!std::isfinite(value_of(f, top - 1))) --top;
  const auto number_at = [&](int code) {
    if (code < top) return value_of(f, code);
    return 2 * value_of(f, top - 1) - value_of(f, top - 2);
  };
  if (magnitude >= number_at(top)) return sign | top;
  int low = 0, high = top;  // number_at(low) <= magnitude < number_at(high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (number_at(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - number_at(low), above = number_at(high) - magnitude;
  if (below != above) return sign | (below < above ? low : high);
  return sign | (low % 2 == 0 ? low : high);
}

TEST(Convert, EveryCodeWidensToTheValueOfItsFormula) {
  for (const Format& f : formats()) {
    for (int code = 0; code < f.codes(); ++code) {
      const std::string what = std::string(to_string(f.dtype)) + " code " + std::to_string(code);
      const double want = value_of(f, code);
      expect_same(widen_one<float>(f.dtype, code_bytes(f, code)), want, what);
      expect_same(widen_one<double>(f.dtype, code_bytes(f, code)), want, what);
      expect_same(widen_one<float>(f.dtype, code_bytes(f, code, true), true), want, what);
    }
  }
}

TEST(Convert, EveryCodeComesBackFromFloatAndDouble) {
  for (const Format& f : formats()) {
    for (int code = 0; code < f.codes(); ++code) {
      const double value = value_of(f, code);
      if (std::isnan(value)) continue;
      ASSERT_EQ(narrow_one(f, static_cast<float>(value)), code) << to_string(f.dtype);
      ASSERT_EQ(narrow_one(f, value), code) << to_string(f.dtype);
    }
  }
}

// Between every two neighbours: the middle, and the nearest numbers on both sides of it.
TEST(Convert, MiddlesRoundToEvenAndTheirNeighboursToNearest) {
  for (const Format& f : formats()) {
    for (int code = 0; code + 1 < f.sign_bit(); ++code) {
      const double low = value_of(f, code), high = value_of(f, code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      for (const double sign : {1.0, -1.0}) {
        const int bit = sign < 0 ? f.sign_bit() : 0;
        const int even = code % 2 == 0 ? code : code + 1;
        ASSERT_EQ(narrow_one(f, sign * middle), bit | even) << to_string(f.dtype) << " " << code;
        ASSERT_EQ(narrow_one(f, sign * std::nextafter(middle, 0.0)), bit | code);
        ASSERT_EQ(narrow_one(f, sign * std::nextafter(middle, kInf)), bit | (code + 1));
        const auto middle_f = static_cast<float>(middle);
        if (static_cast<double>(middle_f) != middle) continue;
        const auto sign_f = static_cast<float>(sign);
        ASSERT_EQ(narrow_one(f, sign_f * middle_f), bit | even) << to_string(f.dtype);
        ASSERT_EQ(narrow_one(f, sign_f * std::nextafter(middle_f, 0.0f)), bit | code);
        ASSERT_EQ(narrow_one(f, sign_f * std::nextafter(middle_f, INFINITY)), bit | (code + 1));
      }
    }
  }
}

TEST(Convert, OverflowGivesInfinityOrNanForE4M3) {
  for (const Format& f : formats()) {
    int largest = f.sign_bit() - 1;
    while (!std::isfinite(value_of(f, largest))) --largest;
    const double top = value_of(f, largest), step = top - value_of(f, largest - 1);
    // The tie goes to the even code: the largest number of E4M3 is even, those of the others odd.
    const int at_tie = largest % 2 == 0 ? largest : largest + 1;
    for (const int sign : {0, f.sign_bit()}) {
      const double s = sign != 0 ? -1 : 1;
      EXPECT_EQ(narrow_one(f, s * (top + step / 2)), sign | at_tie) << to_string(f.dtype);
      EXPECT_EQ(narrow_one(f, s * std::nextafter(top + step / 2, 0.0)), sign | largest);
      EXPECT_EQ(narrow_one(f, s * std::nextafter(top + step / 2, kInf)), sign | (largest + 1));
      for (const double huge : {top * 2, 1e300, std::numeric_limits<double>::max(), kInf}) {
        EXPECT_EQ(narrow_one(f, s * huge), sign | (largest + 1)) << to_string(f.dtype) << huge;
        EXPECT_EQ(narrow_one(f, static_cast<float>(s * huge)), sign | (largest + 1));
      }
    }
  }
  const Format& e4m3 = formats()[2];
  EXPECT_EQ(narrow_one(e4m3, 448.0f), 0x7e);
  EXPECT_EQ(narrow_one(e4m3, 464.0f), 0x7e);
  EXPECT_EQ(narrow_one(e4m3, 464.0001f), 0x7f);
  EXPECT_EQ(narrow_one(e4m3, -INFINITY), 0xff);
}

TEST(Convert, NanStaysNan) {
  for (const Format& f : formats()) {
    for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu}) {
      const float value = std::bit_cast<float>(bits);
      EXPECT_TRUE(std::isnan(value_of(f, narrow_one(f, value)))) << to_string(f.dtype);
      EXPECT_TRUE(std::isnan(value_of(f, narrow_one(f, static_cast<double>(value)))));
    }
    // A payload in the low bits of a double, which a float cannot hold.
    const double low = std::bit_cast<double>(std::uint64_t{0x7ff0000000000001});
    EXPECT_TRUE(std::isnan(value_of(f, narrow_one(f, low)))) << to_string(f.dtype);
  }
}

/// One element read as a 16-bit type.
template <class T, class X>
double read_as(DType dtype, X value) {
  T out;
  widen(dtype, false, reinterpret_cast<const std::byte*>(&value), 1, &out);
  return static_cast<double>(static_cast<float>(out));
}

template <class T>
void expect_rounded_once(const Format& f) {
  std::mt19937_64 random(20240608);
  for (int i = 0; i < 20000; ++i) {
    const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const double value = std::ldexp(random() % 2 ? mantissa : -mantissa,
                                    static_cast<int>(random() % 48) - f.bias - 1);
    expect_same(read_as<T>(DType::kF64, value), value_of(f, nearest_code(f, value)), "f64");
    const auto single = static_cast<float>(value);
    expect_same(read_as<T>(DType::kF32, single),
                value_of(f, nearest_code(f, static_cast<double>(single))), "f32");
  }
  for (int code = 0; code < f.codes(); ++code) {
    const double value = value_of(f, code);
    expect_same(read_as<T>(DType::kF64, value), value, "its own as f64");
    expect_same(read_as<T>(f.dtype, static_cast<std::uint16_t>(code)), value, "its own");
  }
  // Integers in the middle of two neighbours, and one off it: the one is lost to a float or double.
  const int digits = f.mantissa_bits + 1;
  for (int exponent = digits; exponent < (f.dtype == DType::kF16 ? 15 : 63); ++exponent) {
    const std::int64_t unit = std::int64_t{1} << (exponent - digits + 1), half = unit / 2;
    for (const std::int64_t odd : {0, 1}) {
      const std::int64_t low = (std::int64_t{1} << exponent) + odd * unit;
      const std::int64_t even = odd ? low + unit : low;
      for (const std::int64_t sign : {1, -1}) {
        const auto want = [&](std::int64_t x) { return static_cast<double>(sign * x); };
        const std::string what = fmt::format("{} 2^{} {}", to_string(f.dtype), exponent, odd);
        expect_same(read_as<T>(DType::kI64, sign * (low + half)), want(even), what);
        expect_same(read_as<T>(DType::kI64, sign * (low + half + 1)), want(low + unit), what);
        if (half > 1) {
          expect_same(read_as<T>(DType::kI64, sign * (low + half - 1)), want(low), what);
        }
      }
      if (exponent > 31) continue;
      const auto word = static_cast<std::uint32_t>(low + half);
      expect_same(read_as<T>(DType::kU32, word), static_cast<double>(even), "u32");
      expect_same(read_as<T>(DType::kU32, word + 1), static_cast<double>(low + unit), "u32");
    }
  }
  expect_same(read_as<T>(DType::kU64, ~std::uint64_t{0}), f.dtype == DType::kF16 ? kInf : 0x1p64,
              "largest u64");
  expect_same(read_as<T>(DType::kI16, std::int16_t{-300}), -300, "i16");
}

TEST(Convert, SixteenBitReadersRoundOnce) {
  for (const Format& f : formats()) {
    if (f.dtype == DType::kF16) expect_rounded_once<Float16>(f);
    if (f.dtype == DType::kBF16) expect_rounded_once<BFloat16>(f);
  }
}

TEST(Convert, RandomNumbersRoundOnceToNearest) {
  std::mt19937_64 random(20240607);
  for (const Format& f : formats()) {
    // From below the smallest subnormal to above the largest number.
    const int low = -f.bias - f.mantissa_bits - 3, high = (1 << f.exponent_bits) - f.bias + 1;
    std::uniform_int_distribution<int> exponents(low, std::min(high, 126));
    for (int i = 0; i < 20000; ++i) {
      const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
      const double value = std::ldexp(random() % 2 ? mantissa : -mantissa, exponents(random));
      ASSERT_EQ(narrow_one(f, value), nearest_code(f, value)) << to_string(f.dtype) << value;
      const auto single = static_cast<float>(value);
      ASSERT_EQ(narrow_one(f, single), nearest_code(f, static_cast<double>(single)))
          << to_string(f.dtype) << single;
    }
  }
}

// 1 + 2^-11 + 2^-40 rounds to 1 + 2^-11 as a float, a tie that would then go down to 1.
TEST(Convert, DoubleIsNotRoundedTwice) {
  EXPECT_EQ(narrow_one(formats()[0], 1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(narrow_one(formats()[0], 1 + 0x1p-11 + 0x1p-10 - 0x1p-40), 0x3c01);
  EXPECT_EQ(narrow_one(formats()[1], 1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(narrow_one(formats()[2], 1 + 0x1p-4 + 0x1p-40), 0x39);
}

TEST(Convert, DoubleToFloatRoundsToNearest) {
  const double in[] = {1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50, 1 + 3 * 0x1p-24, 1e300, -1e-300,
                       0x1p-149};
  float out[6];
  narrow(DType::kF32, in, 6, reinterpret_cast<std::byte*>(out));
  const float want[] = {1, 1 + 0x1p-23f, 1 + 0x1p-22f, INFINITY, -0.0f, 0x1p-149f};
  EXPECT_EQ(std::memcmp(out, want, sizeof(want)), 0);
}

template <class X>
void expect_integers(DType dtype, const std::vector<X>& values) {
  for (const X value : values) {
    for (const bool big : {false, true}) {
      const std::string bytes = number(static_cast<std::uint64_t>(value), sizeof(X), big);
      EXPECT_EQ(widen_one<double>(dtype, bytes, big), static_cast<double>(value));
      EXPECT_EQ(widen_one<float>(dtype, bytes, big), static_cast<float>(value));
    }
  }
}

TEST(Convert, IntegersOfEveryWidth) {
  expect_integers<std::int8_t>(DType::kI8, {-128, -1, 0, 1, 127});
  expect_integers<std::uint8_t>(DType::kU8, {0, 1, 127, 128, 255});
  expect_integers<std::int16_t>(DType::kI16, {-32768, -2, 0, 258, 32767});
  expect_integers<std::uint16_t>(DType::kU16, {0, 258, 32768, 65535});
  expect_integers<std::int32_t>(DType::kI32, {INT32_MIN, -3, 0x01020304, 16777217, INT32_MAX});
  expect_integers<std::uint32_t>(DType::kU32, {0, 0x01020304, 16777217, UINT32_MAX});
  expect_integers<std::int64_t>(DType::kI64, {INT64_MIN, -5, 0x0102030405060708, INT64_MAX});
  expect_integers<std::uint64_t>(DType::kU64, {0, 0x8102030405060708, UINT64_MAX});
  // Ties to even above 2^24 and 2^53, asserted as numbers.
  EXPECT_EQ(widen_one<float>(DType::kI32, number(16777217, 4)), 16777216.0f);
  EXPECT_EQ(widen_one<float>(DType::kI32, number(16777219, 4)), 16777220.0f);
  EXPECT_EQ(widen_one<double>(DType::kU64, number(9007199254740993u, 8)), 9007199254740992.0);
  EXPECT_EQ(widen_one<double>(DType::kU64, number(UINT64_MAX, 8)), 0x1p64);
}

TEST(Convert, BoolIsZeroOrOne) {
  EXPECT_EQ(widen_one<float>(DType::kBool, number(0, 1)), 0.0f);
  for (const unsigned byte : {1u, 2u, 128u, 255u}) {
    EXPECT_EQ(widen_one<float>(DType::kBool, number(byte, 1)), 1.0f);
  }
}

TEST(Convert, LongRunsAndOddAddressesGiveTheSameAsOneByOne) {
  std::mt19937 random(7);
  std::string bytes(1 + 8 * 131, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (int code = 0; code <= static_cast<int>(DType::kBool); ++code) {
    const auto dtype = static_cast<DType>(code);
    const std::size_t size = size_of(dtype);
    for (const bool big : {false, true}) {
      std::vector<float> all(132, -77.0f);
      widen(dtype, big, as_bytes(bytes).data() + 1, 131, all.data());
      for (std::size_t i = 0; i < 131; ++i) {
        expect_same(all[i], widen_one<float>(dtype, bytes.substr(1 + i * size, size), big),
                    std::string(to_string(dtype)) + " element " + std::to_string(i));
      }
      EXPECT_EQ(all[131], -77.0f);
    }
  }
}

TEST(Convert, IntegersCannotBeWritten) {
  const float value = 1;
  std::byte out[8];
  const std::string message =
      error_of(ErrorCode::kUnsupported, [&] { narrow(DType::kI32, &value, 1, out); });
  expect_in(message, {"narrow", "i32"});
}

}  // namespace
}  // namespace tessera::io
