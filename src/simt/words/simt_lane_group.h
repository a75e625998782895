// A set of lanes of one warp: what tiles and coalesced groups share.
#pragma once

#include "simt_warp.h"

namespace cooperative_groups {

class simt_lane_group {
 public:
  SIMT_INLINE void sync() const { __syncwarp(mask_); }
  SIMT_INLINE unsigned thread_rank() const {
    return unsigned(__popc(mask_ & ((1u << simt_lane()) - 1)));
  }
  SIMT_INLINE unsigned num_threads() const { return unsigned(__popc(mask_)); }
  SIMT_INLINE unsigned size() const { return num_threads(); }
  SIMT_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  SIMT_INLINE unsigned ballot(int predicate) const {
    return simt_pack(__ballot_sync(mask_, predicate));
  }
  template <class T>
  SIMT_INLINE unsigned match_any(T value) const {
    return simt_pack(__match_any_sync(mask_, value));
  }
  template <class T>
  SIMT_INLINE unsigned match_all(T value, int& predicate) const {
    return simt_pack(__match_all_sync(mask_, value, &predicate));
  }
  SIMT_INLINE unsigned simt_mask() const { return mask_; }

 protected:
  explicit SIMT_INLINE simt_lane_group(unsigned mask) : mask_(mask) {}
  /// The lane of the group's rank-th thread.
  SIMT_INLINE int lane_of(unsigned rank) const {
    unsigned rest = mask_;
    while (rank-- > 0) rest &= rest - 1;
    return __ffs(int(rest)) - 1;
  }
  /// Bits by lane to bits by rank.
  SIMT_INLINE unsigned simt_pack(unsigned lanes) const {
    unsigned packed = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank) {
      if (lanes & rest & (0u - rest)) packed |= 1u << rank;
    }
    return packed;
  }
  unsigned mask_;
};

}  // namespace cooperative_groups
