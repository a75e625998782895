// What half and bfloat16 have alike. Each operation is rounded to the format once: in double, the
// sum, product, quotient and root of two such numbers round as if they were exact.
#pragma once

#include "simt_math.h"
#include "simt_rounding.h"
#include "simt_vectors.h"
#include "simt_warp.h"

#define SIMT_FLOAT16_FROM(T, From, encode) \
  SIMT_INLINE T(From v) : __x(encode(double(v))) {}
#define SIMT_FLOAT16_ASSIGN(T, op)            \
  SIMT_INLINE T& operator op##=(const T& b) { \
    *this = *this op b;                       \
    return *this;                             \
  }
// T: the scalar; T2: the pair; encode: from double to bits; decode: from bits to float.
#define SIMT_FLOAT16_TYPES(T, T2, encode, decode)                                                  \
  struct T##_raw {                                                                                 \
    unsigned short x;                                                                              \
  };                                                                                               \
  struct T2##_raw {                                                                                \
    unsigned short x, y;                                                                           \
  };                                                                                               \
  struct alignas(2) T {                                                                            \
    unsigned short __x;                                                                            \
    T() = default;                                                                                 \
    SIMT_INLINE constexpr T(T##_raw r) : __x(r.x) {}                                               \
    SIMT_FLOAT16_FROM(T, float, encode)                                                            \
    SIMT_FLOAT16_FROM(T, double, encode)                                                           \
    SIMT_FLOAT16_FROM(T, short, encode)                                                            \
    SIMT_FLOAT16_FROM(T, unsigned short, encode)                                                   \
    SIMT_FLOAT16_FROM(T, int, encode)                                                              \
    SIMT_FLOAT16_FROM(T, unsigned, encode)                                                         \
    SIMT_FLOAT16_FROM(T, long, encode)                                                             \
    SIMT_FLOAT16_FROM(T, unsigned long, encode)                                                    \
    SIMT_FLOAT16_FROM(T, long long, encode)                                                        \
    SIMT_FLOAT16_FROM(T, unsigned long long, encode)                                               \
    SIMT_INLINE operator float() const { return decode(__x); }                                     \
    SIMT_INLINE constexpr operator T##_raw() const { return {__x}; }                               \
    friend SIMT_INLINE T operator+(const T& a, const T& b) {                                       \
      return T(double(float(a)) + float(b));                                                       \
    }                                                                                              \
    friend SIMT_INLINE T operator-(const T& a, const T& b) {                                       \
      return T(double(float(a)) - float(b));                                                       \
    }                                                                                              \
    friend SIMT_INLINE T operator*(const T& a, const T& b) {                                       \
      return T(double(float(a)) * float(b));                                                       \
    }                                                                                              \
    friend SIMT_INLINE T operator/(const T& a, const T& b) {                                       \
      return T(double(float(a)) / float(b));                                                       \
    }                                                                                              \
    friend SIMT_INLINE bool operator==(const T& a, const T& b) { return float(a) == float(b); }    \
    friend SIMT_INLINE bool operator!=(const T& a, const T& b) { return float(a) != float(b); }    \
    friend SIMT_INLINE bool operator<(const T& a, const T& b) { return float(a) < float(b); }      \
    friend SIMT_INLINE bool operator>(const T& a, const T& b) { return float(a) > float(b); }      \
    friend SIMT_INLINE bool operator<=(const T& a, const T& b) { return float(a) <= float(b); }    \
    friend SIMT_INLINE bool operator>=(const T& a, const T& b) { return float(a) >= float(b); }    \
    SIMT_INLINE T operator+() const { return *this; }                                              \
    SIMT_INLINE T operator-() const { return T(T##_raw{(unsigned short)(__x ^ 0x8000)}); }         \
    SIMT_FLOAT16_ASSIGN(T, +)                                                                      \
    SIMT_FLOAT16_ASSIGN(T, -)                                                                      \
    SIMT_FLOAT16_ASSIGN(T, *)                                                                      \
    SIMT_FLOAT16_ASSIGN(T, /)                                                                      \
    SIMT_INLINE T& operator++() { return *this += T(1); }                                          \
    SIMT_INLINE T& operator--() { return *this -= T(1); }                                          \
    SIMT_INLINE T operator++(int) {                                                                \
      const T old = *this;                                                                         \
      *this += T(1);                                                                               \
      return old;                                                                                  \
    }                                                                                              \
    SIMT_INLINE T operator--(int) {                                                                \
      const T old = *this;                                                                         \
      *this -= T(1);                                                                               \
      return old;                                                                                  \
    }                                                                                              \
  };                                                                                               \
  struct alignas(4) T2 {                                                                           \
    T x, y;                                                                                        \
    SIMT_COPIED_WHOLE(T2)                                                                          \
    SIMT_INLINE constexpr T2(const T& x_, const T& y_) : x(x_), y(y_) {}                           \
    SIMT_INLINE constexpr T2(T2##_raw r) : x(T##_raw{r.x}), y(T##_raw{r.y}) {}                     \
    friend SIMT_INLINE T2 operator+(const T2& a, const T2& b) { return {a.x + b.x, a.y + b.y}; }   \
    friend SIMT_INLINE T2 operator-(const T2& a, const T2& b) { return {a.x - b.x, a.y - b.y}; }   \
    friend SIMT_INLINE T2 operator*(const T2& a, const T2& b) { return {a.x * b.x, a.y * b.y}; }   \
    friend SIMT_INLINE T2 operator/(const T2& a, const T2& b) { return {a.x / b.x, a.y / b.y}; }   \
    friend SIMT_INLINE bool operator==(const T2& a, const T2& b) {                                 \
      return a.x == b.x && a.y == b.y;                                                             \
    }                                                                                              \
    friend SIMT_INLINE bool operator!=(const T2& a, const T2& b) {                                 \
      return a.x != b.x && a.y != b.y;                                                             \
    }                                                                                              \
    friend SIMT_INLINE bool operator<(const T2& a, const T2& b) { return a.x < b.x && a.y < b.y; } \
    friend SIMT_INLINE bool operator>(const T2& a, const T2& b) { return a.x > b.x && a.y > b.y; } \
    friend SIMT_INLINE bool operator<=(const T2& a, const T2& b) {                                 \
      return a.x <= b.x && a.y <= b.y;                                                             \
    }                                                                                              \
    friend SIMT_INLINE bool operator>=(const T2& a, const T2& b) {                                 \
      return a.x >= b.x && a.y >= b.y;                                                             \
    }                                                                                              \
    SIMT_INLINE T2 operator+() const { return *this; }                                             \
    SIMT_INLINE T2 operator-() const { return {-x, -y}; }                                          \
    SIMT_FLOAT16_ASSIGN(T2, +)                                                                     \
    SIMT_FLOAT16_ASSIGN(T2, -)                                                                     \
    SIMT_FLOAT16_ASSIGN(T2, *)                                                                     \
    SIMT_FLOAT16_ASSIGN(T2, /)                                                                     \
  };

// An operation on two scalars and its form on pairs.
#define SIMT_FLOAT16_BINARY(T, T2, name, expression)  \
  SIMT_INLINE T name(T a, T b) { return expression; } \
  SIMT_INLINE T2 name##2(T2 a, T2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define SIMT_FLOAT16_ARITHMETIC_OF(T, T2, name, op)                         \
  SIMT_FLOAT16_BINARY(T, T2, __h##name, a op b)                             \
  SIMT_INLINE T __h##name##_rn(T a, T b) { return a op b; }                 \
  SIMT_INLINE T2 __h##name##2_rn(T2 a, T2 b) { return a op b; }             \
  SIMT_INLINE T __h##name##_sat(T a, T b) { return simt_saturate(a op b); } \
  SIMT_INLINE T2 __h##name##2_sat(T2 a, T2 b) {                             \
    return {simt_saturate(a.x op b.x), simt_saturate(a.y op b.y)};          \
  }
// A comparison: of scalars, of pairs as 1 and 0, and of both halves at once; u: NaN counts as true.
#define SIMT_FLOAT16_COMPARE(T, T2, name, expression)                      \
  SIMT_INLINE bool __h##name(T a, T b) { return expression; }              \
  SIMT_INLINE T2 __h##name##2(T2 a, T2 b) {                                \
    return {T(float(__h##name(a.x, b.x))), T(float(__h##name(a.y, b.y)))}; \
  }                                                                        \
  SIMT_INLINE bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define SIMT_FLOAT16_COMPARE_BOTH(T, T2, name, op) \
  SIMT_FLOAT16_COMPARE(T, T2, name, a op b)        \
  SIMT_FLOAT16_COMPARE(T, T2, name##u, a op b || __hisnan(a) || __hisnan(b))
#define SIMT_FLOAT16_UNARY(T, T2, name, expression) \
  SIMT_INLINE T h##name(T v) {                      \
    const double x = double(float(v));              \
    return T(double(expression));                   \
  }                                                 \
  SIMT_INLINE T2 h2##name(T2 v) { return {h##name(v.x), h##name(v.y)}; }

#define SIMT_FLOAT16_FUNCTIONS(T, T2)                                                              \
  SIMT_INLINE bool __hisnan(T a) { return float(a) != float(a); }                                  \
  SIMT_INLINE T2 __hisnan2(T2 a) { return {T(float(__hisnan(a.x))), T(float(__hisnan(a.y)))}; }    \
  SIMT_INLINE int __hisinf(T a) {                                                                  \
    return __builtin_isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0;                                \
  }                                                                                                \
  SIMT_INLINE T simt_saturate(T a) { return T(__saturatef(float(a))); }                            \
  SIMT_INLINE T __hneg(T a) { return -a; }                                                         \
  SIMT_INLINE T2 __hneg2(T2 a) { return -a; }                                                      \
  SIMT_INLINE T __habs(T a) { return T(T##_raw{(unsigned short)(a.__x & 0x7fff)}); }               \
  SIMT_INLINE T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                              \
  SIMT_FLOAT16_ARITHMETIC_OF(T, T2, add, +)                                                        \
  SIMT_FLOAT16_ARITHMETIC_OF(T, T2, sub, -)                                                        \
  SIMT_FLOAT16_ARITHMETIC_OF(T, T2, mul, *)                                                        \
  SIMT_INLINE T __hdiv(T a, T b) { return a / b; }                                                 \
  SIMT_INLINE T2 __h2div(T2 a, T2 b) { return a / b; }                                             \
  SIMT_INLINE T __hfma(T a, T b, T c) { return T(simt_fma_to_odd(float(a), float(b), float(c))); } \
  SIMT_INLINE T2 __hfma2(T2 a, T2 b, T2 c) {                                                       \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                         \
  }                                                                                                \
  SIMT_INLINE T __hfma_sat(T a, T b, T c) { return simt_saturate(__hfma(a, b, c)); }               \
  SIMT_INLINE T __hfma_relu(T a, T b, T c) {                                                       \
    const T r = __hfma(a, b, c);                                                                   \
    return float(r) < 0 ? T(0.0f) : r;                                                             \
  }                                                                                                \
  SIMT_INLINE T2 __hfma2_sat(T2 a, T2 b, T2 c) {                                                   \
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};                                 \
  }                                                                                                \
  SIMT_INLINE T2 __hfma2_relu(T2 a, T2 b, T2 c) {                                                  \
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};                               \
  }                                                                                                \
  SIMT_FLOAT16_BINARY(T, T2, __hmin, __hisnan(a) || b < a ? b : a)                                 \
  SIMT_FLOAT16_BINARY(T, T2, __hmax, __hisnan(a) || b > a ? b : a)                                 \
  SIMT_FLOAT16_BINARY(T, T2, __hmin_nan, __hisnan(b) || b < a ? b : a)                             \
  SIMT_FLOAT16_BINARY(T, T2, __hmax_nan, __hisnan(b) || b > a ? b : a)                             \
  SIMT_FLOAT16_COMPARE_BOTH(T, T2, eq, ==)                                                         \
  SIMT_FLOAT16_COMPARE_BOTH(T, T2, ne, !=)                                                         \
  SIMT_FLOAT16_COMPARE_BOTH(T, T2, lt, <)                                                          \
  SIMT_FLOAT16_COMPARE_BOTH(T, T2, le, <=)                                                         \
  SIMT_FLOAT16_COMPARE_BOTH(T, T2, gt, >)                                                          \
  SIMT_FLOAT16_COMPARE_BOTH(T, T2, ge, >=)                                                         \
  SIMT_FLOAT16_UNARY(T, T2, sqrt, sqrt(x))                                                         \
  SIMT_FLOAT16_UNARY(T, T2, rsqrt, 1.0 / sqrt(x))                                                  \
  SIMT_FLOAT16_UNARY(T, T2, rcp, 1.0 / x)                                                          \
  SIMT_FLOAT16_UNARY(T, T2, exp, exp(x))                                                           \
  SIMT_FLOAT16_UNARY(T, T2, exp2, exp2(x))                                                         \
  SIMT_FLOAT16_UNARY(T, T2, exp10, pow(10.0, x))                                                   \
  SIMT_FLOAT16_UNARY(T, T2, log, log(x))                                                           \
  SIMT_FLOAT16_UNARY(T, T2, log2, log2(x))                                                         \
  SIMT_FLOAT16_UNARY(T, T2, log10, log10(x))                                                       \
  SIMT_FLOAT16_UNARY(T, T2, sin, sin(x))                                                           \
  SIMT_FLOAT16_UNARY(T, T2, cos, cos(x))                                                           \
  SIMT_FLOAT16_UNARY(T, T2, tanh, tanh(x))                                                         \
  SIMT_FLOAT16_UNARY(T, T2, floor, floor(x))                                                       \
  SIMT_FLOAT16_UNARY(T, T2, ceil, ceil(x))                                                         \
  SIMT_FLOAT16_UNARY(T, T2, trunc, trunc(x))                                                       \
  SIMT_FLOAT16_UNARY(T, T2, rint, rint(x))

#define SIMT_FLOAT16_INTEGER(T, name, suffix, I)               \
  SIMT_INLINE T __##suffix##2##name##_rn(I v) { return T(v); } \
  SIMT_INLINE I __##name##2##suffix##_rn(T v) {                \
    return simt_saturating<I>(rint(double(float(v))));         \
  }                                                            \
  SIMT_INLINE I __##name##2##suffix##_rz(T v) {                \
    return simt_saturating<I>(trunc(double(float(v))));        \
  }                                                            \
  SIMT_INLINE I __##name##2##suffix##_ru(T v) {                \
    return simt_saturating<I>(ceil(double(float(v))));         \
  }                                                            \
  SIMT_INLINE I __##name##2##suffix##_rd(T v) {                \
    return simt_saturating<I>(floor(double(float(v))));        \
  }
// name: half or bfloat16, name2: half2 or bfloat162, as they appear in function names.
#define SIMT_FLOAT16_CONVERSIONS(T, T2, name, name2)                                      \
  SIMT_INLINE T __float2##name(float v) { return T(v); }                                  \
  SIMT_INLINE T __float2##name##_rn(float v) { return T(v); }                             \
  SIMT_INLINE T __float2##name##_rz(float v) { return simt_directed<T>(v, v<0, v> 0); }   \
  SIMT_INLINE T __float2##name##_ru(float v) { return simt_directed<T>(v, true, false); } \
  SIMT_INLINE T __float2##name##_rd(float v) { return simt_directed<T>(v, false, true); } \
  SIMT_INLINE T __double2##name(double v) { return T(v); }                                \
  SIMT_INLINE float __##name##2float(T v) { return float(v); }                            \
  SIMT_INLINE T2 __float2##name2##_rn(float v) { return {T(v), T(v)}; }                   \
  SIMT_INLINE T2 __floats2##name2##_rn(float a, float b) { return {T(a), T(b)}; }         \
  SIMT_INLINE T2 __float22##name2##_rn(float2 v) { return {T(v.x), T(v.y)}; }             \
  SIMT_INLINE float2 __##name2##2float2(T2 v) { return {float(v.x), float(v.y)}; }        \
  SIMT_INLINE float __low2float(T2 v) { return float(v.x); }                              \
  SIMT_INLINE float __high2float(T2 v) { return float(v.y); }                             \
  SIMT_INLINE T __low2##name(T2 v) { return v.x; }                                        \
  SIMT_INLINE T __high2##name(T2 v) { return v.y; }                                       \
  SIMT_INLINE T2 __halves2##name2(T a, T b) { return {a, b}; }                            \
  SIMT_INLINE T2 make_##name2(T a, T b) { return {a, b}; }                                \
  SIMT_INLINE T2 __##name##2##name2(T v) { return {v, v}; }                               \
  SIMT_INLINE T2 __low2##name2(T2 v) { return {v.x, v.x}; }                               \
  SIMT_INLINE T2 __high2##name2(T2 v) { return {v.y, v.y}; }                              \
  SIMT_INLINE T2 __lowhigh2highlow(T2 v) { return {v.y, v.x}; }                           \
  SIMT_INLINE T2 __lows2##name2(T2 a, T2 b) { return {a.x, b.x}; }                        \
  SIMT_INLINE T2 __highs2##name2(T2 a, T2 b) { return {a.y, b.y}; }                       \
  SIMT_INLINE short __##name##_as_short(T v) { return short(v.__x); }                     \
  SIMT_INLINE unsigned short __##name##_as_ushort(T v) { return v.__x; }                  \
  SIMT_INLINE T __short_as_##name(short v) { return T(T##_raw{(unsigned short)v}); }      \
  SIMT_INLINE T __ushort_as_##name(unsigned short v) { return T(T##_raw{v}); }            \
  SIMT_FLOAT16_INTEGER(T, name, short, short)                                             \
  SIMT_FLOAT16_INTEGER(T, name, ushort, unsigned short)                                   \
  SIMT_FLOAT16_INTEGER(T, name, int, int)                                                 \
  SIMT_FLOAT16_INTEGER(T, name, uint, unsigned)                                           \
  SIMT_FLOAT16_INTEGER(T, name, ll, long long)                                            \
  SIMT_FLOAT16_INTEGER(T, name, ull, unsigned long long)

// `value` rounded up or down, as allowed, where nearest went the other way.
template <class T>
inline T simt_directed(float value, bool up, bool down) {
  T result(value);
  const bool is_negative = (result.__x & 0x8000) != 0, is_zero = (result.__x & 0x7fff) == 0;
  if (up && float(result) < value) {
    result.__x = (unsigned short)(is_zero ? 1 : is_negative ? result.__x - 1 : result.__x + 1);
  } else if (down && float(result) > value) {
    result.__x = (unsigned short)(is_zero ? 0x8001 : is_negative ? result.__x + 1 : result.__x - 1);
  }
  return result;
}
