// One product as the BLAS says it: column-major, 32-bit sizes.
#pragma once

#include <cstdint>

#include "tessera/matrix.h"

namespace tessera::blas {

template <class T>
struct Call {
  Op op_a, op_b;
  int m, n, k;
  T alpha;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  T beta;
  T* c;
  int ldc;

  /// Nothing is written.
  bool quick_return() const {
    return m == 0 || n == 0 || ((alpha == T{0} || k == 0) && beta == T{1});
  }
  bool reads_inputs() const { return m > 0 && n > 0 && k > 0 && alpha != T{0}; }
  MatrixView<const T> a_view() const {
    return {a, op_a == Op::kN ? m : k, op_a == Op::kN ? k : m, lda, Layout::kColMajor};
  }
  MatrixView<const T> b_view() const {
    return {b, op_b == Op::kN ? k : n, op_b == Op::kN ? n : k, ldb, Layout::kColMajor};
  }
  MatrixView<T> c_view() const { return {c, m, n, ldc, Layout::kColMajor}; }
};

/// A row-major product is the column-major one of the transposes, operands exchanged.
template <class T>
Call<T> exchanged(const Call<T>& x) {
  return {x.op_b, x.op_a, x.n, x.m, x.k, x.alpha, x.b, x.ldb, x.a, x.lda, x.beta, x.c, x.ldc};
}

/// The number, as sgemm_ counts its parameters, of the first illegal size or leading dimension;
/// 0 when there is none.
template <class T>
int illegal_parameter(const Call<T>& x) {
  const auto too_small = [](int ld, int rows) { return ld < (rows > 1 ? rows : 1); };
  if (x.m < 0) return 3;
  if (x.n < 0) return 4;
  if (x.k < 0) return 5;
  if (too_small(x.lda, x.op_a == Op::kN ? x.m : x.k)) return 8;
  if (too_small(x.ldb, x.op_b == Op::kN ? x.k : x.n)) return 10;
  if (too_small(x.ldc, x.m)) return 13;
  return 0;
}

}  // namespace tessera::blas
