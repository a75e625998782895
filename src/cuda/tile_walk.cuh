// Which elements of a tile each thread of a block moves, for panels contiguous along k or not.
//
// A tile is kLines lines, kDepth deep; a thread moves kItems vectors of V elements that lie side by
// side in global memory. Item i lies line_of(i) lines and depth_of(i) values of p from item 0:
// constants, so that an item costs one addition.
#pragma once

#include "cuda/vector_config.h"

namespace tessera::cuda {

/// The panel is contiguous along k. A warp takes kWarpDepth values of p from each of several lines:
/// whole sectors in global memory, and no bank conflict when element (line, p) goes to
/// p * vector_pitch + line, as the pitch steps by 4 banks.
template <int kLines, int kDepth, int kThreads, int V>
struct WalkAlongDepth {
  static constexpr bool kAlongDepth = true;
  static constexpr int kItems = kLines * kDepth / (V * kThreads);
  static constexpr int kLanes = kWarpDepth / V;   // along k
  static constexpr int kWarpLines = 32 / kLanes;  // of one warp
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kLineWarps = kLines / kWarpLines < kWarps ? kLines / kWarpLines : kWarps;
  static constexpr int kLineItems = kLines / (kLineWarps * kWarpLines);  // until k moves on
  static constexpr int kDepthStep = kWarps / kLineWarps * kWarpDepth;

  int line, p;  // of item 0
  __device__ explicit WalkAlongDepth(int thread)
      : line(thread / 32 % kLineWarps * kWarpLines + thread % 32 / kLanes),
        p(thread / 32 / kLineWarps * kWarpDepth + thread % kLanes * V) {}
  static __device__ constexpr int line_of(int i) {
    return i % kLineItems * (kLineWarps * kWarpLines);
  }
  static __device__ constexpr int depth_of(int i) { return i / kLineItems * kDepthStep; }
};

/// The panel is contiguous along its lines: neighbouring threads take neighbouring vectors of one
/// p.
template <int kLines, int kDepth, int kThreads, int V>
struct WalkAlongLines {
  static constexpr bool kAlongDepth = false;
  static constexpr int kItems = kLines * kDepth / (V * kThreads);
  static constexpr int kLanes = kLines / V;  // along the lines

  int line, p;
  __device__ explicit WalkAlongLines(int thread) : line(thread % kLanes * V), p(thread / kLanes) {}
  static __device__ constexpr int line_of(int) { return 0; }
  static __device__ constexpr int depth_of(int i) { return i * (kThreads / kLanes); }
};

}  // namespace tessera::cuda
