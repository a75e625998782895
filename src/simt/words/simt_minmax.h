// min and max of the global namespace: of mixed signs the unsigned type wins, as in CUDA.
#pragma once

#include "simt_base.h"

#define SIMT_MIN_MAX(R, A, B)                                                 \
  SIMT_INLINE constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
  SIMT_INLINE constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
#define SIMT_MIN_MAX_OF_INTEGERS(S, U) \
  SIMT_MIN_MAX(S, S, S)                \
  SIMT_MIN_MAX(U, U, U)                \
  SIMT_MIN_MAX(U, S, U)                \
  SIMT_MIN_MAX(U, U, S)
SIMT_MIN_MAX_OF_INTEGERS(int, unsigned)
SIMT_MIN_MAX_OF_INTEGERS(long, unsigned long)
SIMT_MIN_MAX_OF_INTEGERS(long long, unsigned long long)
#undef SIMT_MIN_MAX_OF_INTEGERS
#undef SIMT_MIN_MAX

// A NaN gives way to the other operand.
#define SIMT_MIN_MAX_OF_REALS(R, A, B, suffix)                               \
  SIMT_INLINE R min(A a, B b) { return __builtin_fmin##suffix(R(a), R(b)); } \
  SIMT_INLINE R max(A a, B b) { return __builtin_fmax##suffix(R(a), R(b)); }
SIMT_MIN_MAX_OF_REALS(float, float, float, f)
SIMT_MIN_MAX_OF_REALS(double, double, double, )
SIMT_MIN_MAX_OF_REALS(double, float, double, )
SIMT_MIN_MAX_OF_REALS(double, double, float, )
#undef SIMT_MIN_MAX_OF_REALS

SIMT_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
SIMT_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
SIMT_INLINE long long llmin(long long a, long long b) { return min(a, b); }
SIMT_INLINE long long llmax(long long a, long long b) { return max(a, b); }
