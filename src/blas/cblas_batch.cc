// cblas_sgemm_batch and cblas_dgemm_batch, in groups of one shape as MKL has them. Everything is
// checked before anything is written; numbers are those of the caller's parameters in both orders.
#include "blas/blas.h"
#include "blas/cblas_arguments.h"
#include "blas/multiply.h"

namespace tessera::blas {
namespace {

template <class T>
struct Groups {
  const int *transa, *transb, *m, *n, *k;
  const T* alpha;
  const T* const* a;
  const int* lda;
  const T* const* b;
  const int* ldb;
  const T* beta;
  T* const* c;
  const int* ldc;
  int count;
  const int* size;
};

/// A parameter that is wrong, and where; number 0 when none is.
struct Fault {
  int number = 0;
  const char* format = "";
  int group = 0, detail = 0;
};

/// As illegal_parameter numbers them, in the caller's order: a, lda and m are A's.
template <class T>
Fault fault_of_shape(const Call<T>& x, Order order, int group) {
  const bool row_major = order == Order::kRowMajor;
  switch (const int number = illegal_parameter(row_major ? exchanged(x) : x); number) {
    case 0:
      return {};
    case 3:
    case 4:
      return (number == 3) != row_major ? Fault{4, "Group %d: illegal m, %d\n", group, x.m}
                                        : Fault{5, "Group %d: illegal n, %d\n", group, x.n};
    case 5:
      return {6, "Group %d: illegal k, %d\n", group, x.k};
    case 8:
    case 10:
      return (number == 8) != row_major ? Fault{9, "Group %d: illegal lda, %d\n", group, x.lda}
                                        : Fault{11, "Group %d: illegal ldb, %d\n", group, x.ldb};
    default:
      return {14, "Group %d: illegal ldc, %d\n", group, x.ldc};
  }
}

template <class T>
Fault fault_of_arrays(const Groups<T>& x) {
  if (x.count < 0) return {15, "Illegal group_count, %d\n", x.count};
  if (x.count == 0) return {};
  const struct {
    int number;
    const void* array;
  } arrays[] = {{2, x.transa}, {3, x.transb}, {4, x.m},     {5, x.n},    {6, x.k},    {7, x.alpha},
                {9, x.lda},    {11, x.ldb},   {12, x.beta}, {14, x.ldc}, {16, x.size}};
  for (const auto& [number, array] : arrays) {
    if (array == nullptr) return {number, "The array is null\n"};
  }
  return {};
}

/// The shape of group g, in the caller's order.
template <class T>
Call<T> shape_of(const Groups<T>& x, int g) {
  return {*cblas_op(x.transa[g]),
          *cblas_op(x.transb[g]),
          x.m[g],
          x.n[g],
          x.k[g],
          x.alpha[g],
          nullptr,
          x.lda[g],
          nullptr,
          x.ldb[g],
          x.beta[g],
          nullptr,
          x.ldc[g]};
}

/// Null pointers to matrices that have elements to be read or written.
template <class T>
Fault fault_of_members(const Groups<T>& x, const Call<T>& shape, int g, std::int64_t first) {
  const auto missing = [&](int number, const auto* members) -> Fault {
    if (members == nullptr && x.size[g] > 0) return {number, "The array is null\n"};
    for (int i = 0; i < x.size[g]; ++i) {
      if (members[first + i] == nullptr) {
        return {number, "Group %d: matrix %d is null\n", g, i};
      }
    }
    return {};
  };
  Fault fault;
  if (shape.reads_inputs()) {
    fault = missing(8, x.a);
    if (fault.number == 0) fault = missing(10, x.b);
  }
  if (fault.number == 0 && !shape.quick_return()) fault = missing(13, x.c);
  return fault;
}

template <class T>
Fault fault_of(const Groups<T>& x, Order order) {
  if (const Fault fault = fault_of_arrays(x); fault.number != 0) return fault;
  std::int64_t first = 0;
  for (int g = 0; g < x.count; ++g) {
    if (!cblas_op(x.transa[g])) {
      return {2, "Group %d: illegal transa, %d\n", g, x.transa[g]};
    }
    if (!cblas_op(x.transb[g])) {
      return {3, "Group %d: illegal transb, %d\n", g, x.transb[g]};
    }
    const Call<T> shape = shape_of(x, g);
    if (const Fault fault = fault_of_shape(shape, order, g); fault.number != 0) return fault;
    if (x.size[g] < 0) return {16, "Group %d: illegal group_size, %d\n", g, x.size[g]};
    if (const Fault fault = fault_of_members(x, shape, g, first); fault.number != 0) return fault;
    first += x.size[g];
  }
  return {};
}

template <class T>
void gemm_batch(const char* routine, int layout, const Groups<T>& x) noexcept {
  // Not the exchanged numbers of a call that goes on to a Fortran routine.
  const auto refuse = [&](int number, const char* format, int first, int second) {
    report_cblas(routine, Order::kColMajor, number, format, first, second);
  };
  const std::optional<Order> order = order_of(layout);
  if (!order) return refuse(1, "Illegal layout setting, %d\n", layout, 0);
  if (const Fault fault = fault_of(x, *order); fault.number != 0) {
    return refuse(fault.number, fault.format, fault.group, fault.detail);
  }
  std::int64_t first = 0;
  for (int g = 0; g < x.count; ++g) {
    const Call<T> shape = shape_of(x, g);
    const T* const* const a = x.a == nullptr ? nullptr : x.a + first;
    const T* const* const b = x.b == nullptr ? nullptr : x.b + first;
    T* const* const c = x.c == nullptr ? nullptr : x.c + first;
    if (*order == Order::kRowMajor) {
      multiply_group(exchanged(shape), b, a, c, x.size[g]);
    } else {
      multiply_group(shape, a, b, c, x.size[g]);
    }
    first += x.size[g];
  }
}

}  // namespace
}  // namespace tessera::blas

using tessera::blas::gemm_batch;

extern "C" void cblas_sgemm_batch(int layout, const int* transa, const int* transb, const int* m,
                                  const int* n, const int* k, const float* alpha, const float** a,
                                  const int* lda, const float** b, const int* ldb,
                                  const float* beta, float** c, const int* ldc, int group_count,
                                  const int* group_size) {
  gemm_batch<float>(
      "cblas_sgemm_batch", layout,
      {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size});
}

extern "C" void cblas_dgemm_batch(int layout, const int* transa, const int* transb, const int* m,
                                  const int* n, const int* k, const double* alpha, const double** a,
                                  const int* lda, const double** b, const int* ldb,
                                  const double* beta, double** c, const int* ldc, int group_count,
                                  const int* group_size) {
  gemm_batch<double>(
      "cblas_dgemm_batch", layout,
      {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size});
}
