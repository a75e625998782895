// Shuffles, votes, matches and reductions of a warp, all made of simt_warp_gather.
#pragma once

#include "simt_base.h"
#include "simt_bits.h"
#include "simt_sync.h"

// Loops over what a warp gathered: bookkeeping of the words, so without hooks.
#define SIMT_UNHOOKED inline __attribute__((noinline, no_sanitize("thread")))
SIMT_UNHOOKED unsigned simt_lanes_other_than(unsigned present, const uint64_t* all,
                                             uint64_t value) {
  unsigned lanes = 0;
  for (int i = 0; i < 32; ++i) lanes |= (all[i] != value ? present & 1u << i : 0);
  return lanes;
}
template <class T, class Combine>
SIMT_UNHOOKED T simt_fold(unsigned present, const uint64_t* all, Combine combine) {
  int lane = __builtin_ctz(present);
  T result = T(all[lane]);
  while (++lane < 32) {
    if (present >> lane & 1) result = combine(result, T(all[lane]));
  }
  return result;
}

// --- values of any size travel in words of 64 bits
SIMT_INLINE uint64_t simt_take_word(unsigned mask, uint64_t word, int source) {
  uint64_t all[32];
  unsigned present;
  SIMT_OWN_CALL present = simt_warp_gather(mask, word, all);
  // What a lane that takes no part would give is undefined: the own value stays.
  return present >> source & 1 ? all[source] : word;
}
template <class T>
SIMT_INLINE T simt_take_lane(unsigned mask, T value, int source) {
  if constexpr (sizeof(T) <= 8) {
    return simt_from_word<T>(simt_take_word(mask, simt_to_word(value), source));
  } else {
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (uint64_t& word : words) word = simt_take_word(mask, word, source);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
}

template <class T>
SIMT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = int(simt_lane());
  return simt_take_lane(mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = int(simt_lane()), from = lane - int(delta);
  return simt_take_lane(mask, value, from < (lane & ~(width - 1)) ? lane : from);
}
template <class T>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = int(simt_lane()), from = lane + int(delta);
  return simt_take_lane(mask, value, from > (lane | (width - 1)) ? lane : from);
}
template <class T>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const int lane = int(simt_lane()), from = lane ^ lane_mask;
  // Later segments are out of reach, earlier ones are not.
  return simt_take_lane(mask, value, from > (lane | (width - 1)) ? lane : from);
}

SIMT_INLINE unsigned __activemask() { return simt_active_mask(); }
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  uint64_t all[32];
  unsigned present;
  SIMT_OWN_CALL present = simt_warp_gather(mask, predicate != 0, all);
  return simt_lanes_other_than(present, all, 0);
}
SIMT_INLINE int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
SIMT_INLINE int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any_sync takes 4 or 8 bytes");
  const uint64_t word = simt_to_word(value);
  uint64_t all[32];
  unsigned present;
  SIMT_OWN_CALL present = simt_warp_gather(mask, word, all);
  return present & ~simt_lanes_other_than(present, all, word);
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const bool all = __match_any_sync(mask, value) == mask;
  *predicate = all;
  return all ? mask : 0;
}

template <class T, class Combine>
SIMT_INLINE T simt_reduce(unsigned mask, T value, Combine combine) {
  uint64_t all[32];
  unsigned present;
  SIMT_OWN_CALL present = simt_warp_gather(mask, uint64_t(value), all);
  return simt_fold<T>(present, all, combine);
}
#define SIMT_REDUCE(name, T, expression)                                       \
  SIMT_INLINE T __reduce_##name##_sync(unsigned mask, T value) {               \
    return simt_reduce(mask, value, [](T a, T b) -> T { return expression; }); \
  }
SIMT_REDUCE(add, unsigned, a + b)
SIMT_REDUCE(add, int, int(unsigned(a) + unsigned(b)))
SIMT_REDUCE(min, unsigned, a < b ? a : b)
SIMT_REDUCE(min, int, a < b ? a : b)
SIMT_REDUCE(max, unsigned, a > b ? a : b)
SIMT_REDUCE(max, int, a > b ? a : b)
SIMT_REDUCE(and, unsigned, a& b)
SIMT_REDUCE(or, unsigned, a | b)
SIMT_REDUCE(xor, unsigned, a ^ b)
#undef SIMT_REDUCE
