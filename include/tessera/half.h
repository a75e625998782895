// 16-bit floating-point elements, as inputs of products with FP32 sums.
#pragma once

#include <cstdint>

#include "tessera/precision.h"

namespace tessera {

/// bfloat16: the upper half of a binary32 number. An array of it may be any memory of such
/// elements.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  /// To nearest, ties to even; beyond the largest finite number infinity. NaN stays NaN.
  explicit BFloat16(float value);
  static BFloat16 from_bits(std::uint16_t bits);
  operator float() const;  // NOLINT: implicit by design, it loses nothing
};

/// IEEE 754 binary16, likewise.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value);
  static Float16 from_bits(std::uint16_t bits);
  operator float() const;  // NOLINT: implicit by design, it loses nothing
};

template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBF16;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::kF16;
};

}  // namespace tessera
