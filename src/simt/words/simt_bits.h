// Integer intrinsics and reinterpretations.
#pragma once

#include <string.h>

#include "simt_base.h"

template <class To, class From>
SIMT_INLINE To simt_bits(From value) {
  return __builtin_bit_cast(To, value);
}

// A value of up to 8 bytes in the low bits of a word, and back. Plain words are not moved by
// memcpy, which would be hooked.
template <class T>
SIMT_INLINE uint64_t simt_to_word(const T& value) {
  if constexpr (__is_trivially_copyable(T) && sizeof(T) == 8) {
    return __builtin_bit_cast(uint64_t, value);
  } else if constexpr (__is_trivially_copyable(T) && sizeof(T) == 4) {
    return __builtin_bit_cast(uint32_t, value);
  } else {
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    return word;
  }
}
template <class T>
SIMT_INLINE T simt_from_word(uint64_t word) {
  if constexpr (__is_trivially_copyable(T) && sizeof(T) == 8) {
    return __builtin_bit_cast(T, word);
  } else if constexpr (__is_trivially_copyable(T) && sizeof(T) == 4) {
    return __builtin_bit_cast(T, uint32_t(word));
  } else {
    T value;
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
  }
}

SIMT_INLINE int __float_as_int(float v) { return simt_bits<int>(v); }
SIMT_INLINE unsigned __float_as_uint(float v) { return simt_bits<unsigned>(v); }
SIMT_INLINE float __int_as_float(int v) { return simt_bits<float>(v); }
SIMT_INLINE float __uint_as_float(unsigned v) { return simt_bits<float>(v); }
SIMT_INLINE long long __double_as_longlong(double v) { return simt_bits<long long>(v); }
SIMT_INLINE double __longlong_as_double(long long v) { return simt_bits<double>(v); }
SIMT_INLINE int __double2hiint(double v) { return int(simt_bits<long long>(v) >> 32); }
SIMT_INLINE int __double2loint(double v) { return int(simt_bits<long long>(v)); }
SIMT_INLINE double __hiloint2double(int high, int low) {
  return simt_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

SIMT_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
SIMT_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
SIMT_INLINE int __clz(int v) { return v == 0 ? 32 : __builtin_clz((unsigned)v); }
SIMT_INLINE int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll((unsigned long long)v);
}
SIMT_INLINE int __ffs(int v) { return __builtin_ffs(v); }
SIMT_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
SIMT_INLINE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
SIMT_INLINE unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }

SIMT_INLINE int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SIMT_INLINE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((unsigned long long)a * b >> 32);
}
SIMT_INLINE long long __mul64hi(long long a, long long b) {
  return (long long)((__int128)a * b >> 64);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return (a > b ? a - b : b - a) + c;
}
SIMT_INLINE unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + c;
}
SIMT_INLINE int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
SIMT_INLINE int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }

SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31));
}
// Each nibble of `selector` picks one of the eight bytes; its top bit spreads that byte's sign.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = selector >> (4 * i);
    unsigned byte = unsigned(bytes >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// Sums of products of the four bytes of two words.
inline int __dp4a(int a, int b, int c) {
  unsigned sum = unsigned(c);
  for (int i = 0; i < 32; i += 8) sum += unsigned((signed char)(a >> i) * (signed char)(b >> i));
  return int(sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
