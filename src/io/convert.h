// Elements of files to float and double, and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/precision.h"

namespace tessera::io {

/// out[i] = element i of `in`, which may have any alignment. Exact when T can hold the value, else
/// rounded once, to nearest (f64 and integers above 2^24, or 2^53 for double; the 16-bit types have
/// fewer bits and a smaller range, beyond which is infinity). bool gives 0 or 1.
/// T is float, double, BFloat16 or Float16.
template <class T>
void widen(DType dtype, bool big_endian, const std::byte* in, std::int64_t count, T* out);

/// Element i of `out`, little-endian, = in[i] rounded once, to nearest with ties to even. Overflow
/// gives infinity, or NaN for f8_e4m3. dtype is one of the floating-point types.
template <class T>
void narrow(DType dtype, const T* in, std::int64_t count, std::byte* out);

}  // namespace tessera::io
