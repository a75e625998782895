// Where a thread reads in the tiles of one panel, whichever way it walks them.
#pragma once

#include "cuda/gemm_args.cuh"
#include "cuda/tile_walk.cuh"

namespace tessera::cuda {

/// A thread's place in the tiles of one panel: where it reads next, and what is left to read.
template <class T, int kLines, int kDepth>
class TileCursor {
 public:
  template <class Walk>
  __device__ TileCursor(const Panel<T>& x, std::int64_t first_line, const Walk& walk)
      : line_(walk.line),
        p_(walk.p),
        lines_(bounded(x.lines - first_line, kLines)),
        depth_left_(x.depth),
        step_(Walk::kAlongDepth ? x.line_step : x.depth_step),
        g_next_(x.at(first_line + walk.line, walk.p)) {}

  /// Is the whole tile there, so that no element needs a test?
  __device__ bool is_whole() const { return lines_ == kLines && depth_left_ >= kDepth; }

  template <class Walk>
  __device__ const T* item(int i) const {
    const int far = Walk::kAlongDepth ? Walk::line_of(i) : Walk::depth_of(i);
    const int near = Walk::kAlongDepth ? Walk::depth_of(i) : Walk::line_of(i);
    return g_next_ + far * step_ + near;
  }

  /// Elements of item i's vector that exist, possibly more than it has, or none when <= 0.
  template <class Walk>
  __device__ int present(int i) const {
    const int lines = lines_ - line_ - Walk::line_of(i);
    const int depth = bounded(depth_left_, kDepth) - p_ - Walk::depth_of(i);
    if (Walk::kAlongDepth) return lines > 0 ? depth : 0;
    return depth > 0 ? lines : 0;
  }

  /// On to the next tile along k.
  template <class Walk>
  __device__ void advance() {
    g_next_ += Walk::kAlongDepth ? kDepth : kDepth * step_;
    depth_left_ -= kDepth;
  }

  /// Where item i of this thread goes in a shared tile.
  template <class Walk>
  __device__ int place(int i) const {
    return (p_ + Walk::depth_of(i)) * vector_pitch(kLines, sizeof(T)) + line_ + Walk::line_of(i);
  }

 private:
  static __device__ int bounded(std::int64_t left, int size) {
    return static_cast<int>(left < size ? left : size);
  }

  int line_, p_;  // of this thread's first item
  int lines_;     // of this tile that exist
  std::int64_t depth_left_, step_;
  const T* g_next_;
};

}  // namespace tessera::cuda
