#include "blas/xerbla.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Variables of the reference CBLAS, by which its handlers and those of its test programs know who
// called.
extern "C" {
__attribute__((weak)) void xerbla_(const char* routine, const int* number, std::size_t length);
__attribute__((weak)) void cblas_xerbla(int number, const char* routine, const char* format, ...);
__attribute__((weak)) extern int CBLAS_CallFromC;
__attribute__((weak)) extern int RowMajorStrg;
}

namespace tessera::blas {
namespace {

void set_caller(bool from_c, bool row_major) {
  if (&CBLAS_CallFromC != nullptr) CBLAS_CallFromC = from_c;
  if (&RowMajorStrg != nullptr) RowMajorStrg = row_major;
}

/// The caller's own number of a parameter that the exchange of operands has moved.
int before_exchange(int number) {
  switch (number) {
    case 4:
      return 5;
    case 5:
      return 4;
    case 9:
      return 11;
    case 11:
      return 9;
    default:
      return number;
  }
}

}  // namespace

void report(const char* routine, int number) {
  if (&xerbla_ != nullptr) return xerbla_(routine, &number, std::strlen(routine));
  std::printf(" ** On entry to %s parameter number %2d had an illegal value\n", routine, number);
  std::exit(EXIT_FAILURE);
}

void report_inner(const char* routine, const char* cblas_routine, Order order, int number) {
  if (&xerbla_ == nullptr) return report_cblas(cblas_routine, order, number + 1, "");
  set_caller(true, order == Order::kRowMajor);
  xerbla_(routine, &number, std::strlen(routine));
  set_caller(false, false);
}

void report_cblas(const char* cblas_routine, Order order, int number, const char* format, int first,
                  int second, int third) {
  const bool row_major = order == Order::kRowMajor;
  if (&cblas_xerbla != nullptr) {
    set_caller(true, row_major);
    cblas_xerbla(number, cblas_routine, format, first, second, third);
    set_caller(false, false);
    return;
  }
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n",
               row_major ? before_exchange(number) : number, cblas_routine);
  std::fprintf(stderr, format, first, second, third);
  std::exit(-1);
}

}  // namespace tessera::blas
