// The element types that kernels of the CPU are made for.
#pragma once

#include "tessera/half.h"
#include "tessera/precision.h"

namespace tessera {

/// Of A and B; C is f32 beside those of 16 bits.
inline constexpr DType kCpuInputs[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16};

/// f.operator()<In, T>() for A and B of type In and C of type T.
template <class F>
auto with_elements(DType input, F f) {
  switch (input) {
    case DType::kF64:
      return f.template operator()<double, double>();
    case DType::kBF16:
      return f.template operator()<BFloat16, float>();
    case DType::kF16:
      return f.template operator()<Float16, float>();
    default:
      return f.template operator()<float, float>();
  }
}

}  // namespace tessera
