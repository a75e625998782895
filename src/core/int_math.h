// Integer arithmetic on sizes and offsets.
#pragma once

#include <cstdint>

namespace tessera {

/// a / b rounded up; a >= 0, b > 0, and a + b representable.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// The smallest multiple of `step` that is not below a.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t step) {
  return ceil_div(a, step) * step;
}

// Of sizes that a caller made up: what exceeds the range stays at its end, where every comparison
// with a real size comes out right. Operands are >= 0.
constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

}  // namespace tessera
