// Cooperative groups: block, tile of a warp, coalesced threads. The grid knows its rank but has no
// barrier.
#pragma once

#include "cuda_runtime.h"
#include "simt_lane_group.h"

namespace cooperative_groups {

class thread_block {
 public:
  static SIMT_INLINE void sync() { __syncthreads(); }
  static SIMT_INLINE unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static SIMT_INLINE unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static SIMT_INLINE unsigned size() { return num_threads(); }
  static SIMT_INLINE dim3 group_index() { return blockIdx; }
  static SIMT_INLINE dim3 thread_index() { return threadIdx; }
  static SIMT_INLINE dim3 group_dim() { return blockDim; }
  static SIMT_INLINE dim3 dim_threads() { return blockDim; }
};
SIMT_INLINE thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static void sync() { simt_unsupported("a barrier over the whole grid"); }
  static SIMT_INLINE bool is_valid() { return false; }
  static SIMT_INLINE unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static SIMT_INLINE unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  static SIMT_INLINE unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static SIMT_INLINE unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  static SIMT_INLINE unsigned long long size() { return num_threads(); }
  static SIMT_INLINE dim3 group_dim() { return gridDim; }
  static SIMT_INLINE dim3 dim_blocks() { return gridDim; }
  static SIMT_INLINE dim3 block_index() { return blockIdx; }
};
SIMT_INLINE grid_group this_grid() { return {}; }

/// The lanes that stand at one place. Its rank counts them, not the lanes of the warp.
class coalesced_group : public simt_lane_group {
 public:
  explicit SIMT_INLINE coalesced_group(unsigned mask) : simt_lane_group(mask) {}
  template <class T>
  SIMT_INLINE T shfl(T value, unsigned rank) const {
    return simt_take_lane(mask_, value, lane_of(rank % num_threads()));
  }
  template <class T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return simt_take_lane(mask_, value, lane_of(delta > rank ? rank : rank - delta));
  }
  template <class T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return simt_take_lane(mask_, value,
                          lane_of(rank + delta < num_threads() ? rank + delta : rank));
  }
  SIMT_INLINE unsigned meta_group_rank() const { return 0; }
  SIMT_INLINE unsigned meta_group_size() const { return 1; }
};
SIMT_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// kSize neighbouring lanes, kSize a power of two up to 32.
template <unsigned kSize, class Parent = void>
class thread_block_tile : public simt_lane_group {
  static_assert(kSize != 0 && (kSize & (kSize - 1)) == 0 && kSize <= 32,
                "the executor runs tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
  SIMT_INLINE thread_block_tile()
      : simt_lane_group(unsigned((1ull << kSize) - 1) << (simt_lane() / kSize * kSize)) {}
  template <class OtherParent>
  SIMT_INLINE thread_block_tile(const thread_block_tile<kSize, OtherParent>&)
      : thread_block_tile() {}
  static SIMT_INLINE unsigned thread_rank() { return simt_lane() % kSize; }
  static SIMT_INLINE constexpr unsigned num_threads() { return kSize; }
  static SIMT_INLINE constexpr unsigned size() { return kSize; }
  template <class T>
  SIMT_INLINE T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, rank, int(kSize));
  }
  template <class T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    return __shfl_up_sync(mask_, value, delta, int(kSize));
  }
  template <class T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    return __shfl_down_sync(mask_, value, delta, int(kSize));
  }
  template <class T>
  SIMT_INLINE T shfl_xor(T value, unsigned mask) const {
    return __shfl_xor_sync(mask_, value, int(mask), int(kSize));
  }
  SIMT_INLINE unsigned meta_group_rank() const { return thread_block::thread_rank() / kSize; }
  SIMT_INLINE unsigned meta_group_size() const {
    return (thread_block::num_threads() + kSize - 1) / kSize;
  }
};

template <unsigned kSize, class Parent>
SIMT_INLINE thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Group, class Label>
SIMT_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.simt_mask(), label));
}
template <class Group>
SIMT_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.simt_mask(), predicate);
  return coalesced_group(predicate ? yes : group.simt_mask() & ~yes);
}

/// Any of the groups above, chosen at run time.
class thread_group {
 public:
  SIMT_INLINE thread_group(thread_block) : mask_(0) {}
  SIMT_INLINE thread_group(const simt_lane_group& group) : mask_(group.simt_mask()) {}
  SIMT_INLINE void sync() const {
    if (mask_ == 0) {
      __syncthreads();
    } else {
      __syncwarp(mask_);
    }
  }
  SIMT_INLINE unsigned size() const {
    return mask_ == 0 ? thread_block::size() : unsigned(__popc(mask_));
  }
  SIMT_INLINE unsigned num_threads() const { return size(); }
  SIMT_INLINE unsigned thread_rank() const {
    return mask_ == 0 ? thread_block::thread_rank()
                      : unsigned(__popc(mask_ & ((1u << simt_lane()) - 1)));
  }

 private:
  unsigned mask_;  // 0: the whole block
};
SIMT_INLINE thread_group tiled_partition(const thread_group&, unsigned size) {
  if (size > 32) simt_unsupported("a tile of more than one warp (32 threads)");
  const unsigned tile = unsigned((1ull << size) - 1) << (simt_lane() / size * size);
  return coalesced_group(tile);
}

template <class Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
SIMT_INLINE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
SIMT_INLINE auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups
