// Moves one operand's tile from global to shared memory, coalesced whichever way it is stored.
#pragma once

#include "cuda/gemm_args.cuh"
#include "cuda/register_config.h"

namespace tessera::cuda {

/// A tile is kLines lines, kDepth deep; in shared memory element (line, p) lies at
/// s_tile[p * kPitch + line], so that the inner loop reads lines side by side.
///
/// Consecutive threads walk the index that is contiguous in global memory ("inner"), and a pass of
/// the block covers kThreads / inner size values of the other ("outer"); kItems passes make a tile.
/// The choice is made at run time, the same for the whole grid, and changes only steps and bounds.
template <class T, int kLines, int kDepth, int kThreads>
class TileLoader {
 public:
  static constexpr int kPitch = tile_pitch(kLines, kDepth, sizeof(T));
  static constexpr int kItems = kLines * kDepth / kThreads;

  __device__ TileLoader(const Panel<T>& x, std::int64_t first_line, int thread)
      : along_depth_(x.depth_is_contiguous()),
        lines_(bounded(x.lines - first_line, kLines)),
        depth_left_(x.depth),
        inner_(along_depth_ ? thread % kDepth : thread % kLines),
        outer_(along_depth_ ? thread / kDepth : thread / kLines),
        outer_step_(along_depth_ ? kThreads / kDepth : kThreads / kLines),
        g_next_(along_depth_ ? x.at(first_line + outer_, inner_)
                             : x.at(first_line + inner_, outer_)),
        g_pass_(outer_step_ * (along_depth_ ? x.line_step : x.depth_step)),
        g_tile_(kDepth * x.depth_step) {}

  /// Reads the next tile along k into registers; zeros where the panel ends, so that a tile that
  /// hangs over adds nothing.
  __device__ void fetch() {
    const int depth = bounded(depth_left_, kDepth);
    const int inner_end = along_depth_ ? depth : lines_;
    const int outer_end = inner_ < inner_end ? (along_depth_ ? lines_ : depth) : 0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      r_items_[i] = outer_ + i * outer_step_ < outer_end ? g_next_[i * g_pass_] : T{0};
    }
    g_next_ += g_tile_;
    depth_left_ -= kDepth;
  }

  /// Writes what fetch read.
  __device__ void store(T* s_tile) const {
    T* s_item = s_tile + (along_depth_ ? inner_ * kPitch + outer_ : outer_ * kPitch + inner_);
    const int s_pass = along_depth_ ? outer_step_ : outer_step_ * kPitch;
#pragma unroll
    for (int i = 0; i < kItems; ++i) s_item[i * s_pass] = r_items_[i];
  }

 private:
  static __device__ int bounded(std::int64_t left, int size) {
    return static_cast<int>(left < size ? left : size);
  }

  bool along_depth_;
  int lines_;  // of this tile that exist
  std::int64_t depth_left_;
  int inner_, outer_;  // this thread's place in the first pass
  int outer_step_;
  const T* g_next_;
  std::int64_t g_pass_, g_tile_;
  T r_items_[kItems];
};

}  // namespace tessera::cuda
