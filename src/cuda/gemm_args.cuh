// What a kernel is given: two panels, C, the scalars; how it reads an element and stores a result.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// An input seen from C: `lines` of `depth` elements each. A line is a row of op(A) or a column of
/// op(B), so that A and B, transposed or not, are one case with different steps.
template <class T>
struct Panel {
  const T* g;
  std::int64_t lines, depth;
  std::int64_t line_step, depth_step;  // elements from one line, one p, to the next; one of them 1
  std::int64_t batch_stride;

  /// Is p, along which a product sums, the contiguous index in memory?
  __host__ __device__ bool depth_is_contiguous() const { return depth_step == 1; }

  __host__ __device__ const T* at(std::int64_t line, std::int64_t p) const {
    return g + line * line_step + p * depth_step;
  }

  /// The element, or the zero that adds nothing to a sum where the panel has none.
  __device__ T load_or_zero(std::int64_t line, std::int64_t p) const {
    return line < lines && p < depth ? *at(line, p) : T{0};
  }

  __device__ Panel batch_member(std::int64_t index) const {
    Panel member = *this;
    member.g += index * batch_stride;
    return member;
  }
};

template <class T>
struct GemmArgs {
  Panel<T> a, b;
  T* c;
  std::int64_t m, n, k;
  std::int64_t ldc, stride_c;
  T alpha, beta;
};

/// C(row, col + j * col_step) = alpha * sums[j] + beta * C(...), for those j whose element exists.
template <class T, int kCount>
__device__ void store_results(const GemmArgs<T>& x, std::int64_t batch, std::int64_t row,
                              std::int64_t col, int col_step, const T (&sums)[kCount]) {
  if (row >= x.m) return;
  T* g_c = x.c + batch * x.stride_c + row * x.ldc + col;
  const std::int64_t cols = x.n - col;
  T r_old[kCount] = {};
  // beta == 0 must not read C: it may hold NaN, or nothing yet.
  if (x.beta != T{0}) {
    // All loads before the first store, so that they wait together.
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (j * col_step < cols) r_old[j] = g_c[j * col_step];
    }
  }
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    if (j * col_step >= cols) continue;
    g_c[j * col_step] = x.beta == T{0} ? x.alpha * sums[j] : x.alpha * sums[j] + x.beta * r_old[j];
  }
}

template <class T>
__device__ void store_result(const GemmArgs<T>& x, std::int64_t batch, std::int64_t row,
                             std::int64_t col, T sum) {
  const T sums[1] = {sum};
  store_results(x, batch, row, col, 1, sums);
}

}  // namespace tessera::cuda
