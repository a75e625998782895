// The 8- and 16-bit floating-point formats as arithmetic on the bits of binary32.
//
// Formats: binary16 (IEEE 754-2019), bfloat16, and the OCP 8-bit floats E4M3 and E5M2 ("OCP 8-bit
// Floating Point Specification (OFP8)", revision 1.0). Every function is a chain of selects without
// branches, so that a loop over it vectorises.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

/// A format with `kMantissa` stored mantissa bits and exponent bias `kBias`, narrower than binary32
/// in both. kTop is the first code (without sign) that is no finite number: infinity where the
/// format has one, else NaN. kNan is the quiet NaN that is written.
template <int kBits_, int kMantissa_, int kBias_, std::uint32_t kTop_, std::uint32_t kNan_>
struct SmallFloat {
  static constexpr int kBits = kBits_, kMantissa = kMantissa_, kBias = kBias_;
  static constexpr std::uint32_t kTop = kTop_, kNan = kNan_;
  static constexpr std::uint32_t kSign = 1u << (kBits - 1);
};
using F16 = SmallFloat<16, 10, 15, 0x7c00, 0x7e00>;
using F8E5M2 = SmallFloat<8, 2, 15, 0x7c, 0x7e>;
using F8E4M3 = SmallFloat<8, 3, 7, 0x7f, 0x7f>;

template <class F>
float widen_small(std::uint32_t code) {
  constexpr int kShift = 23 - F::kMantissa;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - F::kBias) << 23;
  // Subnormals are whole multiples of this power of two.
  constexpr float kQuantum =
      std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - F::kBias - F::kMantissa) << 23);
  const std::uint32_t magnitude = code & (F::kSign - 1);
  const std::uint32_t sign = (code & F::kSign) << (32 - F::kBits);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(magnitude)) * kQuantum);
  const std::uint32_t normal = (magnitude << kShift) + kRebias;
  // All exponent bits set, the payload kept; a format without infinity has only its NaN here.
  const std::uint32_t special =
      0x7f800000u | (F::kTop == F::kNan ? 0x400000u : (magnitude << kShift) & 0x7fffffu);
  std::uint32_t bits = magnitude < (1u << F::kMantissa) ? subnormal : normal;
  bits = magnitude >= F::kTop ? special : bits;
  return std::bit_cast<float>(bits | sign);
}

/// To nearest, ties to even; beyond the largest finite number to kTop.
template <class F>
std::uint32_t narrow_small(float value) {
  constexpr int kShift = 23 - F::kMantissa;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - F::kBias) << 23;
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(127 + 1 - F::kBias) << 23;
  // Adding 2^23 quanta rounds a subnormal to a whole number of quanta, in the low mantissa bits.
  constexpr std::uint32_t kMagic =
      static_cast<std::uint32_t>(127 + 1 - F::kBias - F::kMantissa + 23) << 23;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = (bits >> (32 - F::kBits)) & F::kSign;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic)) -
      kMagic;
  // A carry out of the mantissa raises the exponent, which is the next code.
  const std::uint32_t shifted = magnitude - kRebias;
  const std::uint32_t normal =
      (shifted + (1u << (kShift - 1)) - 1 + ((shifted >> kShift) & 1)) >> kShift;
  std::uint32_t code = magnitude < kSmallestNormal ? subnormal : normal;
  code = magnitude >= kSmallestNormal && normal > F::kTop ? F::kTop : code;
  code = magnitude > 0x7f800000u ? F::kNan : code;
  return code | sign;
}

inline float widen_bf16(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// To nearest, ties to even; a carry past the largest finite number gives infinity.
inline std::uint16_t narrow_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t nan = ((bits >> 16) & 0x8000u) | 0x7fc0u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/// binary64 to binary32 rounded to odd: truncated, with the last bit set when anything was lost.
/// Rounding the result once more, to a format at least two bits narrower, is then the same as
/// rounding the double once (S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded
/// sums: proved algorithms using rounding to odd", 2008).
inline float to_float_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool up = (value < 0 ? -back : back) > (value < 0 ? -value : value);
  bits -= up ? 1u : 0u;
  bits |= back != value ? 1u : 0u;
  return std::bit_cast<float>(bits);
}

}  // namespace tessera
