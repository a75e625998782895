// cg::reduce over a tile or coalesced threads.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  SIMT_INLINE T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T>
struct less {
  SIMT_INLINE T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  SIMT_INLINE T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  SIMT_INLINE T operator()(const T& a, const T& b) const { return a & b; }
};
template <class T>
struct bit_or {
  SIMT_INLINE T operator()(const T& a, const T& b) const { return a | b; }
};
template <class T>
struct bit_xor {
  SIMT_INLINE T operator()(const T& a, const T& b) const { return a ^ b; }
};

/// Every thread of the group gets `combine` over all values: halves are folded onto each other, as
/// a ladder of shuffles does, so that sums round as there.
template <class Group, class T, class Combine>
SIMT_INLINE T reduce(const Group& group, T value, Combine combine) {
  const unsigned size = group.num_threads(), rank = group.thread_rank();
  unsigned half = 1;
  while (half < size) half *= 2;
  T sum = value;
  for (half /= 2; half > 0; half /= 2) {
    const T other = group.shfl_down(sum, half);
    if (rank < half && rank + half < size) sum = combine(sum, other);
  }
  return group.shfl(sum, 0);
}

}  // namespace cooperative_groups
