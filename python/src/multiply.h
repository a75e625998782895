// From arrays of any rank to products: shapes, broadcasting, and the rules that both must keep.
#pragma once

#include <vector>

#include "product.h"

namespace tessera::python {

struct Request {
  const char* operation = "gemm";
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 0;
  GemmOptions options;
};

/// Throws TypeError or ValueError when a and b cannot be multiplied: other element types, memory
/// or devices, a rank below 2, inner sizes or batch dimensions that do not fit.
void check_pair(const Request& request, const Strided& a, const Strided& b);

/// The shape of the product of two arrays of matrices: batch dimensions are broadcast as NumPy's.
std::vector<std::int64_t> product_shape(const Request& request, const Strided& a, const Strided& b);

/// Throws when `out` cannot take the product of a and b: read-only, other type, memory or shape, no
/// ld, or memory shared with an input.
void check_out(const Request& request, const Strided& a, const Strided& b, const Strided& out);

/// out = alpha * op(a) * op(b) + beta * out. a and b must be expressible with an ld (matrix_of).
/// Everything is checked before anything is written; with `only_check` nothing is.
void multiply(const Request& request, const Strided& a, const Strided& b, const Strided& out,
              const Allocate& allocate = {}, bool only_check = false);

}  // namespace tessera::python
