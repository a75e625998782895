// The vector types. Those that a GPU moves by one instruction are copied as one value here too:
// member-wise copies of a plain struct would reach the hooks as two or four small accesses.
#pragma once

#include "simt_base.h"

#if defined(__x86_64__)
#define SIMT_WIDE_REGISTER "+x"
#else
#define SIMT_WIDE_REGISTER "+w"
#endif

// Copies kBytes at once. The empty asm keeps the compiler from narrowing the access to the members
// that are used.
template <int kBytes>
struct simt_whole;
#define SIMT_WHOLE(bytes, carrier, constraint)                 \
  template <>                                                  \
  struct simt_whole<bytes> {                                   \
    typedef carrier __attribute__((may_alias)) type;           \
    static SIMT_INLINE void copy(void* to, const void* from) { \
      type value = *static_cast<const type*>(from);            \
      __asm__("" : constraint(value));                         \
      *static_cast<type*>(to) = value;                         \
    }                                                          \
  };
typedef int simt_quad __attribute__((vector_size(16)));
SIMT_WHOLE(2, unsigned short, "+r")
SIMT_WHOLE(4, unsigned, "+r")
SIMT_WHOLE(8, double, SIMT_WIDE_REGISTER)
SIMT_WHOLE(16, simt_quad, SIMT_WIDE_REGISTER)
#undef SIMT_WHOLE
template <>
struct simt_whole<32> {  // two instructions on a GPU too
  static SIMT_INLINE void copy(void* to, const void* from) {
    simt_whole<16>::copy(to, from);
    simt_whole<16>::copy(static_cast<char*>(to) + 16, static_cast<const char*>(from) + 16);
  }
};

// The copying members of a type that moves as a whole.
#define SIMT_COPIED_WHOLE(Type)                                                         \
  Type() = default;                                                                     \
  SIMT_INLINE Type(const Type& other) { simt_whole<sizeof(Type)>::copy(this, &other); } \
  SIMT_INLINE Type& operator=(const Type& other) {                                      \
    simt_whole<sizeof(Type)>::copy(this, &other);                                       \
    return *this;                                                                       \
  }

#define SIMT_VECTOR_1(name, T) \
  struct name##1 {             \
    T x;                       \
  };                           \
  SIMT_INLINE constexpr name##1 make_##name##1(T x) { return {x}; }
#define SIMT_VECTOR_2(name, T)                                      \
  struct alignas(2 * sizeof(T)) name##2 {                           \
    T x, y;                                                         \
    SIMT_COPIED_WHOLE(name##2)                                      \
    SIMT_INLINE constexpr name##2(T x_, T y_ = 0) : x(x_), y(y_) {} \
  };                                                                \
  SIMT_INLINE constexpr name##2 make_##name##2(T x, T y) { return name##2(x, y); }
#define SIMT_VECTOR_3(name, T) \
  struct name##3 {             \
    T x, y, z;                 \
  };                           \
  SIMT_MAKE_3(name, T)
#define SIMT_MAKE_3(name, T) \
  SIMT_INLINE constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define SIMT_VECTOR_4(name, T, alignment)                                                          \
  struct alignas(alignment) name {                                                                 \
    T x, y, z, w;                                                                                  \
    SIMT_COPIED_WHOLE(name)                                                                        \
    SIMT_INLINE constexpr name(T x_, T y_ = 0, T z_ = 0, T w_ = 0) : x(x_), y(y_), z(z_), w(w_) {} \
  };                                                                                               \
  SIMT_INLINE constexpr name make_##name(T x, T y, T z, T w) { return name(x, y, z, w); }

#define SIMT_SMALL_VECTORS(name, T) \
  SIMT_VECTOR_1(name, T)            \
  SIMT_VECTOR_2(name, T)            \
  SIMT_VECTOR_3(name, T)            \
  SIMT_VECTOR_4(name##4, T, 4 * sizeof(T))
// Four elements of 8 bytes: aligned to 16, or as their suffix says.
#define SIMT_LARGE_VECTORS(name, T) \
  SIMT_VECTOR_1(name, T)            \
  SIMT_VECTOR_2(name, T)            \
  SIMT_VECTOR_3(name, T)            \
  SIMT_VECTOR_4(name##4, T, 16)     \
  SIMT_VECTOR_4(name##4_16a, T, 16) \
  SIMT_VECTOR_4(name##4_32a, T, 32)

SIMT_SMALL_VECTORS(char, signed char)
SIMT_SMALL_VECTORS(uchar, unsigned char)
SIMT_SMALL_VECTORS(short, short)
SIMT_SMALL_VECTORS(ushort, unsigned short)
SIMT_SMALL_VECTORS(int, int)
SIMT_VECTOR_1(uint, unsigned)
SIMT_VECTOR_2(uint, unsigned)
SIMT_MAKE_3(uint, unsigned)
SIMT_VECTOR_4(uint4, unsigned, 16)
SIMT_SMALL_VECTORS(float, float)
SIMT_LARGE_VECTORS(long, long)
SIMT_LARGE_VECTORS(ulong, unsigned long)
SIMT_LARGE_VECTORS(longlong, long long)
SIMT_LARGE_VECTORS(ulonglong, unsigned long long)
SIMT_LARGE_VECTORS(double, double)

#undef SIMT_SMALL_VECTORS
#undef SIMT_LARGE_VECTORS
#undef SIMT_VECTOR_1
#undef SIMT_VECTOR_2
#undef SIMT_VECTOR_3
#undef SIMT_VECTOR_4
#undef SIMT_MAKE_3
