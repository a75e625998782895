// Stages of an operand that is contiguous along k, fetched as it lies and turned in place.
//
// The copy engine brings boxes of 8 p of all lines of a stage. Such a box is a row of blocks of 32
// lines, and each block is turned where it is, by one warp:
//
//   as fetched      line 0   p0 .. p7             turned       p 0   l0 .. l31
//                   ...                    --->                ...
//                   line 31  p0 .. p7                          p 7   l0 .. l31
#pragma once

#include "cuda/ptx/tensor_copy.cuh"

namespace tessera::cuda {

inline constexpr int kBoxDepth = 8, kBlockLines = 32, kBlockFloats = kBoxDepth * kBlockLines;

/// Where line `line` of a stage is, relative to line 0, when the stage has been turned or not.
template <bool kTurned>
__device__ constexpr int line_offset(int line) {
  return kTurned ? line / kBlockLines * kBlockFloats + line % kBlockLines : line;
}

/// From one p to the next one of eight. From eight to the next it is 8 * kLines either way.
template <bool kTurned, int kLines>
constexpr int depth_step() {
  return kTurned ? kBlockLines : kLines;
}

/// Has kDepth p of kLines lines fetched. Coordinates of a map of turned boxes are p, line.
template <bool kTurned, int kLines, int kDepth>
__device__ __forceinline__ void fetch_panel(ptx::SharedAddress to, const CUtensorMap* map, int line,
                                            int p, int member, ptx::SharedAddress barrier) {
  if constexpr (kTurned) {
#pragma unroll 1
    for (int box = 0; box < kDepth; box += kBoxDepth) {
      ptx::tensor_copy(to + box * kLines * 4, map, p + box, line, member, barrier);
    }
  } else {
    ptx::tensor_copy(to, map, line, p, member, barrier);
  }
}

/// One block, as a warp reads it: a lane reads one line in two halves. Neighbours of four take
/// another half first, so that eight lanes' reads hit 32 banks.
struct TurnedLine {
  float4 half[2];
  __device__ __forceinline__ static int first_half() { return threadIdx.x >> 2 & 1; }

  __device__ __forceinline__ void read(const float* s_block) {
    const auto* s_line = reinterpret_cast<const float4*>(s_block) + threadIdx.x % 32 * 2;
    half[0] = s_line[first_half()];
    half[1] = s_line[1 - first_half()];
  }
  /// After all lanes have read.
  __device__ __forceinline__ void write(float* s_block) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int first_p = 4 * (i == 0 ? first_half() : 1 - first_half());
      float* s_to = s_block + first_p * kBlockLines + threadIdx.x % 32;
      s_to[0] = half[i].x, s_to[kBlockLines] = half[i].y;
      s_to[2 * kBlockLines] = half[i].z, s_to[3 * kBlockLines] = half[i].w;
    }
  }
};

/// Turns this warp's share of kBlocks consecutive blocks, kAtOnce at a time: more hide each other's
/// latency and take more registers.
template <int kBlocks, int kWarps, int kAtOnce>
__device__ __forceinline__ void turn_blocks(float* s_blocks) {
  static_assert(kBlocks % (kWarps * kAtOnce) == 0);
  float* s_block = s_blocks + threadIdx.x / 32 * (kAtOnce * kBlockFloats);
#pragma unroll 1
  for (int i = 0; i < kBlocks / (kWarps * kAtOnce); ++i) {
    TurnedLine lines[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) lines[n].read(s_block + n * kBlockFloats);
    __syncwarp();
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) lines[n].write(s_block + n * kBlockFloats);
    s_block += kWarps * kAtOnce * kBlockFloats;
  }
}

}  // namespace tessera::cuda
