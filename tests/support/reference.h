// The product in FP64 by the definition, with the magnitude that error bounds need.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/matrix.h"
#include "tessera/matrix.h"

namespace tessera::test {

struct Reference {
  std::int64_t m = 0, n = 0;
  std::vector<double> value;      ///< alpha * op(A) op(B) + beta * C0, row-major
  std::vector<double> magnitude;  ///< |alpha| |op(A)||op(B)| + |beta C0|
  std::int64_t k = 0;
};

/// c0 is read only when beta != 0, a and b only when alpha != 0 and k > 0: the semantics of gemm.
template <class In, class T>
Reference reference_gemm(Op op_a, Op op_b, double alpha, const TestMatrix<In>& a,
                         const TestMatrix<In>& b, double beta, const TestMatrix<T>& c0,
                         std::int64_t batch = 0, std::int64_t batch_a = -1,
                         std::int64_t batch_b = -1) {
  if (batch_a < 0) batch_a = batch;
  if (batch_b < 0) batch_b = batch;
  Reference r;
  r.m = c0.rows();
  r.n = c0.cols();
  r.k = op_a == Op::kN ? a.cols() : a.rows();
  r.value.assign(static_cast<std::size_t>(r.m * r.n), 0.0);
  r.magnitude = r.value;
  for (std::int64_t i = 0; i < r.m; ++i) {
    double* value = r.value.data() + i * r.n;
    double* magnitude = r.magnitude.data() + i * r.n;
    for (std::int64_t p = 0; alpha != 0 && p < r.k; ++p) {
      const double x =
          static_cast<double>(op_a == Op::kN ? a.at(i, p, batch_a) : a.at(p, i, batch_a));
      for (std::int64_t j = 0; j < r.n; ++j) {
        const double y =
            static_cast<double>(op_b == Op::kN ? b.at(p, j, batch_b) : b.at(j, p, batch_b));
        value[j] += x * y;
        magnitude[j] += std::fabs(x * y);
      }
    }
    for (std::int64_t j = 0; j < r.n; ++j) {
      if (alpha != 0 && r.k > 0) {
        value[j] *= alpha;
        magnitude[j] *= std::fabs(alpha);
      }
      if (beta != 0) {
        const double c = static_cast<double>(c0.at(i, j, batch));
        value[j] += beta * c;
        magnitude[j] += std::fabs(beta * c);
      }
    }
  }
  return r;
}

}  // namespace tessera::test
