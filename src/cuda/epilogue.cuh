// Stores one thread's row of results, 16 bytes at a time where C's addresses and edge allow it.
#pragma once

#include "cuda/gemm_args.cuh"
#include "cuda/vector.cuh"

namespace tessera::cuda {

/// C(row, col + g * kStep + e) = alpha * sums[g * W + e] + beta * C(...), W elements being 16
/// bytes, for those elements that exist.
template <int kStep, class T, int kCount>
__device__ void store_groups(const GemmArgs<T>& x, std::int64_t batch, std::int64_t row,
                             std::int64_t col, const T (&sums)[kCount]) {
  constexpr int W = 16 / sizeof(T), kGroups = kCount / W;
  if (row >= x.m || col >= x.n) return;
  T* g_c = x.c + batch * x.stride_c + row * x.ldc + col;
  // kStep is a multiple of W: one test of the address holds for all groups.
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(g_c) % 16 == 0;
  const std::int64_t cols_left = x.n - col;
  const auto count = [&](int group) {
    const std::int64_t left = cols_left - group * kStep;
    return static_cast<int>(left < W ? left : W);
  };

  Vector<T, W> r_old[kGroups] = {};
  // beta == 0 must not read C: it may hold NaN, or nothing yet.
  if (x.beta != T{0}) {
    // All loads before the first store, so that they wait together.
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (is_aligned && count(g) == W) {
        r_old[g] = load_vector<W>(g_c + g * kStep);
      } else {
#pragma unroll
        for (int e = 0; e < W; ++e) {
          if (e < count(g)) r_old[g].element[e] = g_c[g * kStep + e];
        }
      }
    }
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    Vector<T, W> r_new;
#pragma unroll
    for (int e = 0; e < W; ++e) {
      const T product = x.alpha * sums[g * W + e];
      r_new.element[e] = x.beta == T{0} ? product : product + x.beta * r_old[g].element[e];
    }
    if (is_aligned && count(g) == W) {
      store_vector(g_c + g * kStep, r_new);
    } else {
#pragma unroll
      for (int e = 0; e < W; ++e) {
        if (e < count(g)) g_c[g * kStep + e] = r_new.element[e];
      }
    }
  }
}

}  // namespace tessera::cuda
