#include "tessera/half.h"

#include "core/small_float.h"

namespace tessera {

BFloat16::BFloat16(float value) : bits(narrow_bf16(value)) {}
BFloat16::operator float() const { return widen_bf16(bits); }
BFloat16 BFloat16::from_bits(std::uint16_t bits) {
  BFloat16 x;
  x.bits = bits;
  return x;
}

Float16::Float16(float value) : bits(static_cast<std::uint16_t>(narrow_small<F16>(value))) {}
Float16::operator float() const { return widen_small<F16>(bits); }
Float16 Float16::from_bits(std::uint16_t bits) {
  Float16 x;
  x.bits = bits;
  return x;
}

}  // namespace tessera
