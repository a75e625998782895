// The enumerators of CBLAS.
#pragma once

#include <optional>

#include "blas/xerbla.h"
#include "tessera/matrix.h"

namespace tessera::blas {

inline std::optional<Order> order_of(int layout) {
  if (layout == 101) return Order::kRowMajor;
  if (layout == 102) return Order::kColMajor;
  return std::nullopt;
}

inline std::optional<Op> cblas_op(int transpose) {
  if (transpose == 111) return Op::kN;
  if (transpose == 112 || transpose == 113) return Op::kT;  // 113 conjugates, too
  return std::nullopt;
}

}  // namespace tessera::blas
