// Half and bfloat16, as bits.
#pragma once

#include <cstdint>

namespace tessera::simt {

float half_to_float(std::uint16_t h);
std::uint16_t float_to_half(float x);  ///< to nearest, ties to even
float bfloat_to_float(std::uint16_t b);
std::uint16_t float_to_bfloat(float x);

}  // namespace tessera::simt
