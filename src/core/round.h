// Rounding of scalars to the type that a product is computed in.
#pragma once

namespace tessera {

/// The nearest float, as a double. Through memory: from -O2 on, gcc 12 vectorises a neighbouring
/// pair of double-float-double conversions into nothing.
inline double round_to_f32(double x) {
  const volatile float rounded = static_cast<float>(x);
  return rounded;
}

}  // namespace tessera
