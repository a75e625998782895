// half and bfloat16 against formulas of their own.
#include <algorithm>
#include <cmath>
#include <random>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "executor.h"

namespace {

struct Format {
  int exponent_bits, mantissa_bits;
};

// The value of the bits by the definition of the formats.
double value_of(Format format, unsigned bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = int(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const double fraction = bits & ((1u << format.mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - format.mantissa_bits);
  return sign *
         std::ldexp(fraction + (1 << format.mantissa_bits), exponent - bias - format.mantissa_bits);
}

template <class T>
unsigned bits_of(T v) {
  unsigned short bits;
  memcpy(&bits, &v, 2);
  return bits;
}
template <class T>
T from_bits(unsigned bits) {
  const unsigned short narrow = (unsigned short)bits;
  T v;
  memcpy(&v, &narrow, 2);
  return v;
}

// Every value comes back; between neighbours the midpoint goes to the even one and whatever lies
// beside it to the nearer one. Rounding being monotonic, that is all of it.
template <class T>
void check_rounding(Format format) {
  const unsigned infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  for (unsigned bits = 0; bits < infinity; ++bits) {
    const double value = value_of(format, bits);
    double next = value_of(format, bits + 1);
    if (bits + 1 == infinity) next = value + (value - value_of(format, bits - 1));
    const double middle = (value + next) / 2;
    const unsigned even = bits & 1 ? bits + 1 : bits;
    CHECK(double(float(from_bits<T>(bits))) == value);
    CHECK(float(from_bits<T>(bits | 0x8000)) == float(-value));
    CHECK(bits_of(T(value)) == bits);
    CHECK(bits_of(T(float(value))) == bits);
    CHECK(bits_of(T(-value)) == (bits | 0x8000));
    CHECK(bits_of(T(middle)) == even);
    CHECK(bits_of(T(-middle)) == (even | 0x8000));
    CHECK(bits_of(T(std::nextafter(middle, 0.0))) == bits);
    CHECK(bits_of(T(std::nextafter(middle, INFINITY))) == bits + 1);
  }
  CHECK(bits_of(T(INFINITY)) == infinity && bits_of(T(-1e300)) == (infinity | 0x8000));
  CHECK(bits_of(T(NAN)) == 0x7fff && bits_of(T(5e-324)) == 0 && bits_of(T(-0.0)) == 0x8000);
  for (unsigned bits = infinity + 1; bits < 0x8000; ++bits) {
    CHECK(std::isnan(float(from_bits<T>(bits))));
  }
}

// Integers of 2^-kScale are exact here: the nearest value by a search, not by rounding bits.
template <class T>
struct Nearest {
  using Wide = __int128;
  struct Entry {
    Wide scaled;
    unsigned bits;
  };
  std::vector<Entry> entries;  // without negative ones
  unsigned infinity;

  Nearest(Format format, int scale, double least, double most) {
    infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
    for (unsigned bits = 0; bits < infinity; ++bits) {
      const double value = value_of(format, bits);
      if (value != 0 && (value < least || value > most)) continue;
      entries.push_back({Wide(std::ldexp(value, scale)), bits});
    }
  }
  unsigned operator()(Wide x) const {
    const unsigned sign = x < 0 ? 0x8000 : 0;
    if (x < 0) x = -x;
    const auto above = std::lower_bound(entries.begin(), entries.end(), x,
                                        [](const Entry& e, Wide v) { return e.scaled < v; });
    if (above == entries.end()) {
      const Wide last = entries.back().scaled, step = last - entries[entries.size() - 2].scaled;
      return sign | (2 * (x - last) < step ? entries.back().bits : infinity);
    }
    if (above == entries.begin()) return sign | above->bits;
    const auto below = above - 1;
    const Wide up = above->scaled - x, down = x - below->scaled;
    const bool is_up = up < down || (up == down && (above->bits & 1) == 0);
    return sign | (is_up ? above->bits : below->bits);
  }
};

template <class T, class MakeBits>
void check_fma(Format format, int scale, double least, double most, MakeBits make_bits) {
  const Nearest<T> nearest(format, scale, least, most);
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const unsigned a = make_bits(random), b = make_bits(random), c = make_bits(random);
    const double x = value_of(format, a), y = value_of(format, b), z = value_of(format, c);
    const __int128 exact = __int128(std::ldexp(x * y, scale)) + __int128(std::ldexp(z, scale));
    if (exact == 0) continue;
    CHECK(bits_of(__hfma(from_bits<T>(a), from_bits<T>(b), from_bits<T>(c))) == nearest(exact));
    const __int128 sum = __int128(std::ldexp(x, scale)) + __int128(std::ldexp(z, scale));
    if (sum != 0) CHECK(bits_of(from_bits<T>(a) + from_bits<T>(c)) == nearest(sum));
    const __int128 product = __int128(std::ldexp(x * y, scale));
    if (product != 0) CHECK(bits_of(from_bits<T>(a) * from_bits<T>(b)) == nearest(product));
  }
}

void check_functions() {
  const half2 a = __floats2half2_rn(1.5f, -2.0f), b = __half2half2(__float2half(2.0f));
  CHECK(__low2float(a) == 1.5f && __high2float(a) == -2.0f);
  CHECK(float(__hfma2(a, b, b).y) == -2.0f && float((a * b).x) == 3.0f);
  CHECK(float(__low2half(__lowhigh2highlow(a))) == -2.0f);
  CHECK(__hlt(a.y, a.x) && !__hgt(a.y, a.x) && __hbeq2(a, a) && !__hbeq2(a, b));
  CHECK(float(__hmax(CUDART_NAN_FP16, a.x)) == 1.5f && float(__hmin(a.x, a.y)) == -2.0f);
  CHECK(__hisnan(__hmax_nan(CUDART_NAN_FP16, a.x)) && __hisinf(CUDART_INF_FP16) == 1);
  CHECK(__half2int_rn(half(2.5f)) == 2 && __half2int_rz(half(-2.5f)) == -2);
  CHECK(float(__habs(a.y)) == 2.0f && float(-a.x) == -1.5f && float(hsqrt(half(9.0f))) == 3.0f);
  CHECK(bits_of(__float2half_rz(65519.0f)) == 0x7bff &&
        bits_of(__float2half_ru(65505.0f)) == 0x7c00);
  CHECK(bits_of(__float2half_rd(-1e-9f)) == 0x8001 && bits_of(__float2half_ru(-1e-9f)) == 0x8000);
  CHECK(bits_of(__float2half_ru(1e-9f)) == 1 && bits_of(__float2half_rd(1e9f)) == 0x7bff);
  CHECK(__bfloat162float(__float2bfloat16(1.0f)) == 1.0f);
  CHECK(__high2float(__floats2bfloat162_rn(1.0f, 3.0f)) == 3.0f);
  CHECK(float(__hadd_sat(half(0.75f), half(0.5f))) == 1.0f);
  half sum = 0;
  for (int i = 0; i < 3000; ++i) sum += half(1);
  CHECK(float(sum) == 2048.0f);  // where the spacing becomes 2
  half integer = 3;
  integer = 2.5;
  CHECK(float(integer) == 2.5f && int(integer) == 2);
}

}  // namespace

int main() {
  constexpr Format kHalf = {5, 10}, kBfloat16 = {8, 7};
  check_rounding<half>(kHalf);
  check_rounding<__nv_bfloat16>(kBfloat16);
  check_fma<half>(kHalf, 48, 0, 65504, [](std::mt19937& random) {
    unsigned bits;
    do {
      bits = random() & 0xffff;
    } while ((bits & 0x7c00) == 0x7c00);
    return bits;
  });
  // Exponents of 2^-10 to 2^9, whose products and sums are exact at a scale of 2^40.
  check_fma<__nv_bfloat16>(kBfloat16, 40, 0x1p-34, 0x1p30, [](std::mt19937& random) {
    return (random() & 0x807f) | (117 + random() % 20) << 7;
  });
  check_functions();
  return failures != 0;
}
