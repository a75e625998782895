// Arithmetic with a rounding of its own: __fadd_rd, __dmul_ru, __fmaf_rz and their like. The
// processor rounds as it is told to, which is right for overflow and subnormal numbers as well.
#pragma once

#include <fenv.h>
#include <math.h>

#include "simt_base.h"

// Operands and result are volatile, so that no compiler moves the operation out of its rounding
// mode; not inlined, so that these are no accesses of the program.
#define SIMT_DIRECTED_BY(T, name, suffix, mode, parameters, copies, operation)                    \
  __attribute__((noinline, nodebug, no_sanitize("thread"))) inline T name##_##suffix parameters { \
    const int simt_before = fegetround();                                                         \
    copies;                                                                                       \
    fesetround(mode);                                                                             \
    volatile T simt_result_ = operation;                                                          \
    fesetround(simt_before);                                                                      \
    return simt_result_;                                                                          \
  }
#define SIMT_DIRECTED(T, name, parameters, copies, operation)                           \
  SIMT_DIRECTED_BY(T, name, rd, FE_DOWNWARD, parameters, SIMT_COPIES copies, operation) \
  SIMT_DIRECTED_BY(T, name, ru, FE_UPWARD, parameters, SIMT_COPIES copies, operation)   \
  SIMT_DIRECTED_BY(T, name, rz, FE_TOWARDZERO, parameters, SIMT_COPIES copies, operation)
#define SIMT_COPIES(...) volatile __VA_ARGS__

#define SIMT_DIRECTED_OF(T, prefix, fma_name, sqrt_of, fma_of)       \
  SIMT_DIRECTED(T, prefix##add, (T a, T b), (T x = a, y = b), x + y) \
  SIMT_DIRECTED(T, prefix##sub, (T a, T b), (T x = a, y = b), x - y) \
  SIMT_DIRECTED(T, prefix##mul, (T a, T b), (T x = a, y = b), x* y)  \
  SIMT_DIRECTED(T, prefix##div, (T a, T b), (T x = a, y = b), x / y) \
  SIMT_DIRECTED(T, prefix##rcp, (T a), (T x = a), T(1) / x)          \
  SIMT_DIRECTED(T, prefix##sqrt, (T a), (T x = a), sqrt_of(x))       \
  SIMT_DIRECTED(T, fma_name, (T a, T b, T c), (T x = a, y = b, z = c), fma_of(x, y, z))
SIMT_DIRECTED_OF(float, __f, __fmaf, sqrtf, fmaf)
SIMT_DIRECTED_OF(double, __d, __fma, sqrt, fma)
SIMT_DIRECTED(float, __double2float, (double a), (double x = a), float(x))
SIMT_DIRECTED(float, __int2float, (int a), (int x = a), float(x))
SIMT_DIRECTED(float, __uint2float, (unsigned a), (unsigned x = a), float(x))
SIMT_DIRECTED(float, __ll2float, (long long a), (long long x = a), float(x))
SIMT_DIRECTED(double, __ll2double, (long long a), (long long x = a), double(x))
#undef SIMT_DIRECTED_OF
#undef SIMT_COPIES
#undef SIMT_DIRECTED
#undef SIMT_DIRECTED_BY
