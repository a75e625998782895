// Atomics of every width that CUDA has, and their _block and _system forms.
#pragma once

#include "simt_base.h"
#include "simt_bits.h"

template <class T>
SIMT_INLINE T simt_atomic_of(int op, int type, T* p, T operand, T compare = T()) {
  return simt_from_word<T>(simt_atomic(op, type, p, simt_to_word(operand), simt_to_word(compare)));
}

#define SIMT_ATOMIC_SCOPES(name, op, T, type)                                         \
  SIMT_INLINE T name(T* p, T v) { return simt_atomic_of<T>(op, type, p, v); }         \
  SIMT_INLINE T name##_block(T* p, T v) { return simt_atomic_of<T>(op, type, p, v); } \
  SIMT_INLINE T name##_system(T* p, T v) { return simt_atomic_of<T>(op, type, p, v); }
#define SIMT_ATOMIC_32(name, op)              \
  SIMT_ATOMIC_SCOPES(name, op, int, SIMT_I32) \
  SIMT_ATOMIC_SCOPES(name, op, unsigned, SIMT_U32)
#define SIMT_ATOMIC_INTEGERS(name, op) \
  SIMT_ATOMIC_32(name, op)             \
  SIMT_ATOMIC_SCOPES(name, op, unsigned long long, SIMT_U64)

SIMT_ATOMIC_INTEGERS(atomicAdd, SIMT_ADD)
SIMT_ATOMIC_SCOPES(atomicAdd, SIMT_ADD, float, SIMT_F32)
SIMT_ATOMIC_SCOPES(atomicAdd, SIMT_ADD, double, SIMT_F64)
SIMT_ATOMIC_32(atomicSub, SIMT_SUB)
SIMT_ATOMIC_INTEGERS(atomicExch, SIMT_EXCHANGE)
SIMT_ATOMIC_SCOPES(atomicExch, SIMT_EXCHANGE, float, SIMT_F32)
SIMT_ATOMIC_INTEGERS(atomicMin, SIMT_MIN)
SIMT_ATOMIC_SCOPES(atomicMin, SIMT_MIN, long long, SIMT_I64)
SIMT_ATOMIC_INTEGERS(atomicMax, SIMT_MAX)
SIMT_ATOMIC_SCOPES(atomicMax, SIMT_MAX, long long, SIMT_I64)
SIMT_ATOMIC_SCOPES(atomicInc, SIMT_INC, unsigned, SIMT_U32)
SIMT_ATOMIC_SCOPES(atomicDec, SIMT_DEC, unsigned, SIMT_U32)
SIMT_ATOMIC_INTEGERS(atomicAnd, SIMT_AND)
SIMT_ATOMIC_INTEGERS(atomicOr, SIMT_OR)
SIMT_ATOMIC_INTEGERS(atomicXor, SIMT_XOR)
#undef SIMT_ATOMIC_INTEGERS
#undef SIMT_ATOMIC_32

#define SIMT_ATOMIC_CAS(name, T, type)                       \
  SIMT_INLINE T name(T* p, T compare, T v) {                 \
    return simt_atomic_of<T>(SIMT_CAS, type, p, v, compare); \
  }
#define SIMT_ATOMIC_CAS_SCOPES(T, type)     \
  SIMT_ATOMIC_CAS(atomicCAS, T, type)       \
  SIMT_ATOMIC_CAS(atomicCAS_block, T, type) \
  SIMT_ATOMIC_CAS(atomicCAS_system, T, type)
SIMT_ATOMIC_CAS_SCOPES(int, SIMT_I32)
SIMT_ATOMIC_CAS_SCOPES(unsigned, SIMT_U32)
SIMT_ATOMIC_CAS_SCOPES(unsigned long long, SIMT_U64)
SIMT_ATOMIC_CAS_SCOPES(unsigned short, SIMT_U16)
#undef SIMT_ATOMIC_CAS_SCOPES
#undef SIMT_ATOMIC_CAS
