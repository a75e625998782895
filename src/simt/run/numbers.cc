#include "simt/run/numbers.h"

#include <cmath>
#include <cstring>

namespace tessera::simt {

float half_to_float(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const float sign = (h & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}
std::uint16_t float_to_half(float x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return sign | 0x7FFF;
  const float a = std::fabs(x);
  if (a >= 65520.0F) return sign | 0x7C00;
  if (a < 0x1p-14F) {  // subnormal: multiples of 2^-24, rounded to even
    return sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(a, 24)));
  }
  int exponent = 0;
  const float fraction = std::frexp(a, &exponent);  // in [0.5, 1)
  const int rounded = static_cast<int>(std::nearbyint(std::ldexp(fraction, 11)));
  return sign | static_cast<std::uint16_t>(((exponent + 14) << 10) + rounded - 1024);
}
float bfloat_to_float(std::uint16_t b) {
  const std::uint32_t bits = std::uint32_t{b} << 16;
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
std::uint16_t float_to_bfloat(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace tessera::simt
