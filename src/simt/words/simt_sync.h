// Barriers, fences and what else a thread says about itself.
#pragma once

#include "simt_base.h"

// Two barriers in two branches are two barriers, also where their code is alike.
#define SIMT_OWN_CALL [[clang::nomerge]]

SIMT_INLINE void __syncthreads() { SIMT_OWN_CALL simt_barrier(); }
SIMT_INLINE int __syncthreads_count(int predicate) {
  int count;
  SIMT_OWN_CALL count = simt_barrier_count(predicate != 0);
  return count;
}
SIMT_INLINE int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) > 0; }
SIMT_INLINE int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }
SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { SIMT_OWN_CALL simt_syncwarp(mask); }

SIMT_INLINE void __threadfence_block() { simt_fence(0); }
SIMT_INLINE void __threadfence() { simt_fence(1); }
SIMT_INLINE void __threadfence_system() { simt_fence(2); }

// Time passes by being asked for, so that a run does not depend on the machine.
inline long long simt_ticks = 0;
SIMT_INLINE long long clock64() { return __atomic_add_fetch(&simt_ticks, 100, __ATOMIC_RELAXED); }
SIMT_INLINE unsigned long long __globaltimer() { return (unsigned long long)clock64(); }
SIMT_INLINE void __nanosleep(unsigned) {}
[[noreturn]] SIMT_INLINE void __trap() { __builtin_trap(); }
SIMT_INLINE void __brkpt() {}
SIMT_INLINE void __prof_trigger(int) {}
#define __assume(condition) __builtin_assume(condition)
