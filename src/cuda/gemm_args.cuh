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

/// C(row, col) = alpha * sum + beta * C(row, col), when that element exists.
template <class T>
__device__ void store_result(const GemmArgs<T>& x, std::int64_t batch, std::int64_t row,
                             std::int64_t col, T sum) {
  if (row >= x.m || col >= x.n) return;
  T& c = x.c[batch * x.stride_c + row * x.ldc + col];
  // beta == 0 must not read C: it may hold NaN, or nothing yet.
  c = x.beta == T{0} ? x.alpha * sum : x.alpha * sum + x.beta * c;
}

}  // namespace tessera::cuda
