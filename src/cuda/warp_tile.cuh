// A thread's results when a warp is 4 x 8 threads: where they lie, how their operands are read from
// shared memory, how they are multiplied and stored.
#pragma once

#include "cuda/gemm_args.cuh"
#include "cuda/tile_schedule.h"

namespace tessera::cuda {

/// Lane -> its row and column among a warp's 4 x 8 threads. A 16-byte read is served in quarters of
/// a warp; with neighbours that differ in both directions, a quarter's addresses repeat in the next
/// one and are served with it.
__device__ inline int lane_col(int lane) { return (lane & 1) | (lane >> 1 & 6); }
__device__ inline int lane_row(int lane) { return (lane >> 1 & 1) | (lane >> 3 & 2); }

/// Rows row(i) and columns col(j) of a block's tile, in groups of four. K::config has BM, BN, TM,
/// TN and the size of a warp's tile.
template <class K>
struct ThreadTile {
  int first_row, first_col;
  __device__ explicit ThreadTile(int thread) {
    constexpr int kWarpCols = K::config.BN / K::config.warp_n();
    const int warp = thread / 32, lane = thread % 32;
    first_row = warp / kWarpCols * K::config.warp_m() + lane_row(lane) * 4;
    first_col = warp % kWarpCols * K::config.warp_n() + lane_col(lane) * 4;
  }
  __device__ int row(int i) const { return first_row + i / 4 * 16 + i % 4; }
  __device__ int col(int j) const { return first_col + j / 4 * 32; }
};

/// count values from groups of four that lie kStep apart.
template <int kStep, int kCount>
__device__ __forceinline__ void load_fragment(float (&r_to)[kCount], const float* s_from) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(s_from + i / 4 * kStep);
    r_to[i] = four.x, r_to[i + 1] = four.y, r_to[i + 2] = four.z, r_to[i + 3] = four.w;
  }
}

/// c += a * b^T, up one column and down the next, so that neighbouring multiply-adds share an
/// operand and registers are read less often.
template <int TM, int TN>
__device__ __forceinline__ void outer_product(float (&r_c)[TM][TN], const float (&r_a)[TM],
                                              const float (&r_b)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j) {
#pragma unroll
    for (int step = 0; step < TM; ++step) {
      const int i = j % 2 == 0 ? step : TM - 1 - step;
      r_c[i][j] += r_a[i] * r_b[j];
    }
  }
}

/// Stores rows first_i .. first_i + kRows - 1 of a thread's results with the scalars; 16 bytes at a
/// time when C's pointer, ld, batch stride and number of columns are multiples of four floats.
template <class K, int kRows, int TN>
__device__ __forceinline__ void store_tile(const GemmArgs<float>& g, bool c_is_vector,
                                           const TileSchedule::Place& place,
                                           const ThreadTile<K>& own, int first_i,
                                           const float (&r_c)[kRows][TN]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = place.row * K::config.BM + own.row(first_i + i);
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const std::int64_t col = place.col * K::config.BN + own.col(j);
      const float sums[4] = {r_c[i][j], r_c[i][j + 1], r_c[i][j + 2], r_c[i][j + 3]};
      if (!c_is_vector) {
        store_results(g, place.batch, row, col, 1, sums);
      } else if (row < g.m && col < g.n) {
        auto* g_c = reinterpret_cast<float4*>(g.c + place.batch * g.stride_c + row * g.ldc + col);
        float4 four = {g.alpha * sums[0], g.alpha * sums[1], g.alpha * sums[2], g.alpha * sums[3]};
        if (g.beta != 0) {  // beta == 0 must not read C
          const float4 old = *g_c;
          four.x += g.beta * old.x, four.y += g.beta * old.y;
          four.z += g.beta * old.z, four.w += g.beta * old.w;
        }
        *g_c = four;
      }
    }
  }
}

/// Stores a tile where rows of C start anywhere: through s_tile, BM x (BN + 4) floats, so that
/// a warp writes neighbouring elements.
template <class K>
__device__ __forceinline__ void store_by_rows(const GemmArgs<float>& g,
                                              const TileSchedule::Place& place,
                                              const ThreadTile<K>& own, int first_i, float* s_tile,
                                              const float (&r_c)[K::config.rows()][K::config.TN]) {
  constexpr auto c = K::config;
  constexpr int kPitch = c.BN + 4;
  __syncthreads();  // everyone has read the last stage, whose memory the tile takes
#pragma unroll
  for (int i = 0; i < c.rows(); ++i) {
#pragma unroll
    for (int j = 0; j < c.TN; j += 4) {
      *reinterpret_cast<float4*>(s_tile + own.row(first_i + i) * kPitch + own.col(j)) = {
          g.alpha * r_c[i][j], g.alpha * r_c[i][j + 1], g.alpha * r_c[i][j + 2],
          g.alpha * r_c[i][j + 3]};
    }
  }
  __syncthreads();
  const std::int64_t row = place.row * c.BM, col = place.col * c.BN;
  const int rows = static_cast<int>(min(g.m - row, std::int64_t{c.BM}));
  const int cols = static_cast<int>(min(g.n - col, std::int64_t{c.BN}));
  for (int i = threadIdx.x / 32; i < rows; i += c.warps()) {
    float* g_c = g.c + place.batch * g.stride_c + (row + i) * g.ldc + col;
#pragma unroll
    for (int first = 0; first < c.BN; first += 32) {
      const int j = first + threadIdx.x % 32;
      if (j >= cols) continue;
      float sum = s_tile[i * kPitch + j];
      if (g.beta != 0) sum += g.beta * g_c[j];  // beta == 0 must not read C
      g_c[j] = sum;
    }
  }
}

}  // namespace tessera::cuda
