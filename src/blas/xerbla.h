// Errors the way BLAS programs expect them: through the XERBLA that the dynamic linker finds.
//
// xerbla_ and cblas_xerbla are not exported from here, since a preloaded library would then hide
// those of every module of the process (NumPy's raises an exception). They are weak references: the
// program's own comes first, then that of the BLAS it is linked to, and without any the default.
#pragma once

namespace tessera::blas {

enum class Order { kColMajor = 102, kRowMajor = 101 };

/// Parameter `number` of a Fortran routine, named in six letters with blanks. The default prints
/// the standard line on stdout and ends the program.
void report(const char* routine, int number);

/// A parameter of the call that a CBLAS routine makes to a Fortran one, numbered as there: the
/// operands of a row-major call are exchanged. As the reference CBLAS: to xerbla_; without one, to
/// cblas_xerbla with the number plus one.
void report_inner(const char* routine, const char* cblas_routine, Order order, int number);

/// A parameter that is a CBLAS routine's own, to cblas_xerbla. `format` takes up to three int. The
/// default prints the reference's lines on stderr and ends the program.
void report_cblas(const char* cblas_routine, Order order, int number, const char* format,
                  int first = 0, int second = 0, int third = 0);

}  // namespace tessera::blas
