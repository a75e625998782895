// The product by its definition: needs no memory, no threads and no alignment, and cannot fail.
#pragma once

#include <cstdint>
#include <cstring>

#include "blas/call.h"

namespace tessera::blas {

template <class T>
T load(const T* p) {
  T value;
  std::memcpy(&value, static_cast<const void*>(p), sizeof value);
  return value;
}

template <class T>
void plain_loops(const Call<T>& x) {
  const bool read = x.reads_inputs();
  const std::int64_t a_row = x.op_a == Op::kN ? 1 : x.lda, a_col = x.op_a == Op::kN ? x.lda : 1;
  const std::int64_t b_row = x.op_b == Op::kN ? 1 : x.ldb, b_col = x.op_b == Op::kN ? x.ldb : 1;
  for (std::int64_t j = 0; j < x.n; ++j) {
    for (std::int64_t i = 0; i < x.m; ++i) {
      T sum{0};
      for (std::int64_t p = 0; read && p < x.k; ++p) {
        sum += load(x.a + i * a_row + p * a_col) * load(x.b + p * b_row + j * b_col);
      }
      T* const c = x.c + i + j * x.ldc;
      T value = x.beta == T{0} ? T{0} : x.beta * load(c);
      if (read) value += x.alpha * sum;
      std::memcpy(static_cast<void*>(c), &value, sizeof value);
    }
  }
}

}  // namespace tessera::blas
