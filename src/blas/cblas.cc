// cblas_sgemm and cblas_dgemm: both orders, errors with the reference's numbers.
#include "blas/blas.h"
#include "blas/cblas_arguments.h"
#include "blas/multiply.h"

namespace tessera::blas {
namespace {

/// Names as the handlers get them.
struct Names {
  const char* fortran;
  const char* cblas;
  const char* cblas_inner;  // the reference makes it of the Fortran one, blank included
};

template <class T>
void gemm(const Names& names, int layout, int transa, int transb, Call<T> call) noexcept {
  const std::optional<Order> order = order_of(layout);
  if (!order) {
    return report_cblas(names.cblas, Order::kColMajor, 1, "Illegal layout setting, %d\n", layout);
  }
  const std::optional<Op> op_a = cblas_op(transa), op_b = cblas_op(transb);
  if (!op_a) return report_cblas(names.cblas, *order, 2, "Illegal TransA setting, %d\n", transa);
  if (!op_b) {
    // Row-major, the reference calls it 2 as well.
    const int number = *order == Order::kRowMajor ? 2 : 3;
    return report_cblas(names.cblas, *order, number, "Illegal TransB setting, %d\n", transb);
  }
  call.op_a = *op_a;
  call.op_b = *op_b;
  if (*order == Order::kRowMajor) call = exchanged(call);
  if (const int number = illegal_parameter(call)) {
    return report_inner(names.fortran, names.cblas_inner, *order, number);
  }
  multiply(call);
}

}  // namespace
}  // namespace tessera::blas

using namespace tessera;  // NOLINT: what follows only translates

extern "C" void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c,
                            int ldc) {
  blas::gemm<float>({"SGEMM ", "cblas_sgemm", "cblas_sgemm "}, layout, transa, transb,
                    {Op::kN, Op::kN, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

extern "C" void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
                            const double* a, int lda, const double* b, int ldb, double beta,
                            double* c, int ldc) {
  blas::gemm<double>({"DGEMM ", "cblas_dgemm", "cblas_dgemm "}, layout, transa, transb,
                     {Op::kN, Op::kN, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}
