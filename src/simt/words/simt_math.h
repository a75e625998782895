// Mathematical functions that CUDA has beside those of <math.h>. The fast ones give the exact
// function's value.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "simt_base.h"
#include "simt_minmax.h"

SIMT_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMT_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
SIMT_INLINE float rsqrt(float x) { return rsqrtf(x); }
SIMT_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMT_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMT_INLINE float fdividef(float a, float b) { return a / b; }
SIMT_INLINE float sinpif(float x) { return float(sin(M_PI * fmod(double(x), 2.0))); }
SIMT_INLINE float cospif(float x) { return float(cos(M_PI * fmod(double(x), 2.0))); }
SIMT_INLINE double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
SIMT_INLINE double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
SIMT_INLINE float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
SIMT_INLINE float normcdff(float x) { return float(0.5 * erfc(-double(x) * M_SQRT1_2)); }
SIMT_INLINE double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

SIMT_INLINE float __fdividef(float a, float b) { return a / b; }
SIMT_INLINE float __expf(float x) { return expf(x); }
SIMT_INLINE float __exp10f(float x) { return float(pow(10.0, double(x))); }
SIMT_INLINE float __logf(float x) { return logf(x); }
SIMT_INLINE float __log2f(float x) { return log2f(x); }
SIMT_INLINE float __log10f(float x) { return log10f(x); }
SIMT_INLINE float __powf(float x, float y) { return powf(x, y); }
SIMT_INLINE float __sinf(float x) { return sinf(x); }
SIMT_INLINE float __cosf(float x) { return cosf(x); }
SIMT_INLINE float __tanf(float x) { return tanf(x); }
SIMT_INLINE void __sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}
SIMT_INLINE float __tanhf(float x) { return tanhf(x); }
SIMT_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// --- one rounding each; the compiler must fuse none of them
#define SIMT_ROUNDED(T, prefix, sqrt_of)                                                     \
  SIMT_INLINE T prefix##add_rn(T a, T b) { _Pragma("clang fp contract(off)") return a + b; } \
  SIMT_INLINE T prefix##sub_rn(T a, T b) { _Pragma("clang fp contract(off)") return a - b; } \
  SIMT_INLINE T prefix##mul_rn(T a, T b) { _Pragma("clang fp contract(off)") return a * b; } \
  SIMT_INLINE T prefix##div_rn(T a, T b) { return a / b; }                                   \
  SIMT_INLINE T prefix##rcp_rn(T a) { return T(1) / a; }                                     \
  SIMT_INLINE T prefix##sqrt_rn(T a) { return sqrt_of(a); }
SIMT_ROUNDED(float, __f, sqrtf)
SIMT_ROUNDED(double, __d, sqrt)
#undef SIMT_ROUNDED
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SIMT_INLINE float __frsqrt_rn(float x) { return float(1.0 / sqrt(double(x))); }

// --- conversions; out of range they saturate, and NaN gives 0, as on a GPU
template <class To>
SIMT_INLINE To simt_saturating(double x) {
  const To low = To(-1) < To(0) ? To(1ull << (8 * sizeof(To) - 1)) : To(0);
  const To high = To(~low);
  if (!(x == x)) return 0;
  if (x <= double(low)) return low;
  return x >= double(high) ? high : To(x);
}
#define SIMT_TO_INTEGER(name, To, From)                                                  \
  SIMT_INLINE To __##name##_rn(From x) { return simt_saturating<To>(rint(double(x))); }  \
  SIMT_INLINE To __##name##_rz(From x) { return simt_saturating<To>(trunc(double(x))); } \
  SIMT_INLINE To __##name##_ru(From x) { return simt_saturating<To>(ceil(double(x))); }  \
  SIMT_INLINE To __##name##_rd(From x) { return simt_saturating<To>(floor(double(x))); }
SIMT_TO_INTEGER(float2int, int, float)
SIMT_TO_INTEGER(float2uint, unsigned, float)
SIMT_TO_INTEGER(float2ll, long long, float)
SIMT_TO_INTEGER(float2ull, unsigned long long, float)
SIMT_TO_INTEGER(double2int, int, double)
SIMT_TO_INTEGER(double2uint, unsigned, double)
SIMT_TO_INTEGER(double2ll, long long, double)
SIMT_TO_INTEGER(double2ull, unsigned long long, double)
#undef SIMT_TO_INTEGER
SIMT_INLINE float __int2float_rn(int x) { return float(x); }
SIMT_INLINE float __uint2float_rn(unsigned x) { return float(x); }
SIMT_INLINE float __ll2float_rn(long long x) { return float(x); }
SIMT_INLINE float __ull2float_rn(unsigned long long x) { return float(x); }
SIMT_INLINE float __double2float_rn(double x) { return float(x); }
SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }
SIMT_INLINE double __ll2double_rn(long long x) { return double(x); }
SIMT_INLINE double __ull2double_rn(unsigned long long x) { return double(x); }
