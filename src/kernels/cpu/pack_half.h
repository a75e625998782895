// Packing of 16-bit operands: they are widened on the way, so that the register tile sees FP32.
#pragma once

#include <cstdint>

#include "kernels/cpu/tile.h"
#include "tessera/half.h"

namespace tessera {

// As one of a kit's two packing functions, those of panels of `width` lines, does it.

template <class T>
void pack(const PackFunction<T> (&functions)[2], int, bool adjacent, const T* x, std::int64_t ld,
          std::int64_t count, std::int64_t depth, T* out) {
  functions[adjacent](x, ld, count, depth, out);
}

void pack(const PackFunction<float> (&functions)[2], int width, bool adjacent, const BFloat16* x,
          std::int64_t ld, std::int64_t count, std::int64_t depth, float* out);
void pack(const PackFunction<float> (&functions)[2], int width, bool adjacent, const Float16* x,
          std::int64_t ld, std::int64_t count, std::int64_t depth, float* out);

}  // namespace tessera
