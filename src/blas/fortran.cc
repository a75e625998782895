// sgemm_ and dgemm_: everything by address, operations by letter.
#include <optional>

#include "blas/blas.h"
#include "blas/multiply.h"
#include "blas/xerbla.h"

namespace tessera::blas {
namespace {

std::optional<Op> op_of(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return Op::kN;
    case 'T':
    case 't':
    case 'C':  // the conjugate of a real number is itself
    case 'c':
      return Op::kT;
    default:
      return std::nullopt;
  }
}

template <class T>
void gemm(const char* routine, char transa, char transb, Call<T> call) noexcept {
  const std::optional<Op> op_a = op_of(transa), op_b = op_of(transb);
  if (!op_a) return report(routine, 1);
  if (!op_b) return report(routine, 2);
  call.op_a = *op_a;
  call.op_b = *op_b;
  if (const int number = illegal_parameter(call)) return report(routine, number);
  multiply(call);
}

}  // namespace
}  // namespace tessera::blas

using namespace tessera;  // NOLINT: what follows only translates

extern "C" void sgemm_(const char* transa, const char* transb, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda,
                       const float* b, const int* ldb, const float* beta, float* c,
                       const int* ldc) {
  blas::gemm<float>("SGEMM ", *transa, *transb,
                    {Op::kN, Op::kN, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}

extern "C" void dgemm_(const char* transa, const char* transb, const int* m, const int* n,
                       const int* k, const double* alpha, const double* a, const int* lda,
                       const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc) {
  blas::gemm<double>("DGEMM ", *transa, *transb,
                     {Op::kN, Op::kN, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}
