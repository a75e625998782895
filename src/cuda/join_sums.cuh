// Sums that several warps or several blocks have computed of the same elements, added in an order
// that does not depend on who was first.
#pragma once

#include "cuda/tile_schedule.h"

namespace tessera::cuda {

/// Where the pieces of tiles that are cut along k leave their sums.
struct PieceSlots {
  TileSchedule schedule;
  float4* partials;    ///< slots of a tile each
  unsigned* arrivals;  ///< of each cut tile: pieces that are in their slots; zero at first
};

/// Four sums of one column as they are moved, neighbours swapped. A 16-byte access wants four
/// registers in a row; fragments of A lie in such quads too, so that a sum then has the other bank
/// than the element of A that it is multiplied with.
template <int kRows, int TN>
__device__ __forceinline__ float4 quad(const float (&r_c)[kRows][TN], int i, int j) {
  return {r_c[i + 1][j], r_c[i][j], r_c[i + 3][j], r_c[i + 2][j]};
}

template <int kRows, int TN>
__device__ __forceinline__ void add_quad(float (&r_c)[kRows][TN], int i, int j,
                                         const float4& four) {
  r_c[i + 1][j] += four.x, r_c[i][j] += four.y, r_c[i + 3][j] += four.z, r_c[i + 2][j] += four.w;
}

/// Adds the slices' sums in their order, through s_block; each thread gets those rows that its
/// slice finishes. The caller sees to it that s_block is not overwritten too early.
template <class K>
__device__ __forceinline__ void add_slices(float4* s_block, int slice,
                                           const float (&r_c)[K::config.TM][K::config.TN],
                                           float (&r_own)[K::config.rows()][K::config.TN]) {
  constexpr auto c = K::config;
  float4* s_sums = s_block + threadIdx.x % c.slice_threads();
  const auto place = [](int from, int i, int j) {
    constexpr auto k = K::config;
    return (from * k.TM * k.TN / 4 + i / 4 * k.TN + j) * k.slice_threads();
  };
  __syncthreads();  // everyone has read the last stage, whose memory the sums take
#pragma unroll
  for (int i = 0; i < c.TM; i += 4) {
#pragma unroll
    for (int j = 0; j < c.TN; ++j) {
      if (i / c.rows() != slice) s_sums[place(slice, i, j)] = quad(r_c, i, j);
    }
  }
  __syncthreads();
#pragma unroll
  for (int to = 0; to < c.slices; ++to) {
    if (slice != to) continue;
#pragma unroll
    for (int i = 0; i < c.rows(); i += 4) {
#pragma unroll
      for (int j = 0; j < c.TN; ++j) {
        const int row = to * c.rows() + i;
#pragma unroll
        for (int e = 0; e < 4; ++e)
          r_own[i + e][j] = -0.0F;  // which leaves any first summand as it is
#pragma unroll
        for (int from = 0; from < c.slices; ++from) {
          add_quad(r_own, i, j, from == to ? quad(r_c, row, j) : s_sums[place(from, row, j)]);
        }
      }
    }
  }
}

/// Puts this block's sums of a cut tile into their slot. The last block to do so gets the sums of
/// all pieces, added in their order, in r_c, and true. Nobody waits for another block.
template <class K>
__device__ __forceinline__ bool add_pieces(const PieceSlots& x, std::int64_t tile, int piece,
                                           float (&r_c)[K::config.rows()][K::config.TN]) {
  constexpr auto c = K::config;
  constexpr int kSlot = c.BM * c.BN / 4;
  __shared__ bool s_is_last;
  const TileSchedule& plan = x.schedule;
  const std::int64_t first = plan.first_piece(tile);
  const int others = static_cast<int>(plan.last_piece(tile) - first);
  const int mine = piece - static_cast<int>(first);
  unsigned* g_arrivals = x.arrivals + (tile - plan.whole);
  float4* g_slots = x.partials + plan.slot(first, tile) * kSlot + threadIdx.x;
  const auto place = [](int i, int j) { return (i / 4 * K::config.TN + j) * K::config.threads(); };

  // The order of two does not matter, so the second of them need not write its own.
  if (threadIdx.x == 0) s_is_last = others == 1 && atomicAdd(g_arrivals, 0U) == 1;
  __syncthreads();
  const bool skip = s_is_last;
  __syncthreads();
  if (!skip) {
#pragma unroll
    for (int i = 0; i < c.rows(); i += 4) {
#pragma unroll
      for (int j = 0; j < c.TN; ++j) g_slots[mine * kSlot + place(i, j)] = quad(r_c, i, j);
    }
    __threadfence();  // the slot before the count
    __syncthreads();
    if (threadIdx.x == 0) {
      s_is_last = atomicAdd(g_arrivals, 1U) == static_cast<unsigned>(others);
    }
    __syncthreads();
    const bool is_last = s_is_last;
    __syncthreads();
    if (!is_last) return false;
  }
  __threadfence();  // the count before the slots
  if (!skip) {
#pragma unroll
    for (int i = 0; i < c.rows(); ++i) {
#pragma unroll
      for (int j = 0; j < c.TN; ++j) r_c[i][j] = -0.0F;  // which leaves any first summand as it is
    }
  }
#pragma unroll 1
  for (int p = 0; p <= others; ++p) {
    if (skip && p == mine) continue;
    const float4* g_slot = g_slots + std::int64_t{p} * kSlot;
#pragma unroll
    for (int i = 0; i < c.rows(); i += 4) {
#pragma unroll
      for (int j = 0; j < c.TN; ++j) add_quad(r_c, i, j, __ldcg(g_slot + place(i, j)));
    }
  }
  return true;
}

}  // namespace tessera::cuda
