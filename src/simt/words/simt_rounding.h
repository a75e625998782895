// Rounding to the 16-bit formats, to nearest with ties to even.
#pragma once

#include "simt_bits.h"

// The format of kExponentBits and kMantissaBits nearest to `value`; NaN becomes 0x7fff.
template <int kExponentBits, int kMantissaBits>
inline unsigned short simt_encode(double value) {
  const uint64_t bits = simt_bits<uint64_t>(value);
  const unsigned sign = unsigned(bits >> 48) & 0x8000;
  if (value != value) return 0x7fff;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr unsigned kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;
  const int exponent = int(bits >> 52 & 0x7ff) - 1023;
  if (exponent > kBias) return (unsigned short)(sign | kInfinity);
  const uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
  const int below_normal = exponent < 1 - kBias ? 1 - kBias - exponent : 0;
  const int shift = 52 - kMantissaBits + below_normal;
  if (shift > 53) return (unsigned short)sign;  // less than half of the smallest number
  const uint64_t rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  uint64_t rounded = mantissa >> shift;
  rounded += rest > half || (rest == half && (rounded & 1));
  // The leading bit of a normal number adds 1 to its exponent; so does a carry.
  if (below_normal == 0) rounded += uint64_t(exponent + kBias - 1) << kMantissaBits;
  return (unsigned short)(sign | unsigned(rounded));
}

// The way back is exact.
inline float simt_decode_half(unsigned short bits) {
  const unsigned sign = unsigned(bits & 0x8000) << 16, exponent = bits >> 10 & 31;
  const unsigned mantissa = bits & 0x3ff;
  if (exponent == 0) {
    return simt_bits<float>(simt_bits<unsigned>(float(mantissa) * 0x1p-24f) | sign);
  }
  const unsigned wide = exponent == 31 ? 255 : exponent - 15 + 127;
  return simt_bits<float>(sign | wide << 23 | mantissa << 13);
}
inline float simt_decode_bfloat16(unsigned short bits) {
  return simt_bits<float>(unsigned(bits) << 16);
}

// a * b + c rounded to odd in double, so that rounding it once more to 16 bits is rounding it once.
// The operands have at most 24 significant bits: their product is exact.
inline double simt_fma_to_odd(double a, double b, double c) {
#pragma clang fp contract(off)
  const double product = a * b;
  const double sum = product + c;
  const double from_c = sum - product;
  const double error = (product - (sum - from_c)) + (c - from_c);
  uint64_t bits = simt_bits<uint64_t>(sum);
  if (!(error < 0 || error > 0) || bits & 1) return sum;  // exact, odd, infinite or NaN
  if ((error > 0) == (sum > 0)) {
    ++bits;
  } else {
    --bits;
  }
  return simt_bits<double>(bits);
}
