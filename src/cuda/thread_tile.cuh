// The part of a block's tile of C that one thread computes, in registers.
#pragma once

#include "cuda/epilogue.cuh"
#include "cuda/vector_config.h"

namespace tessera::cuda {

/// TM x TN results as groups of W x W, where W elements are 16 bytes: group (i, j) starts at
/// row + i * kRowStep, col + j * kColStep. So a thread reads each group's rows of A and columns of
/// B with one 128-bit access, and the threads of a warp read and store next to each other.
template <class T, VectorConfig kConfig>
class ThreadTile {
  static constexpr int W = vector_width(sizeof(T)), TM = kConfig.TM, TN = kConfig.TN;
  static constexpr int kRowStep = kConfig.thread_rows() * W, kColStep = kConfig.thread_cols() * W;
  static constexpr int kPitchA = vector_pitch(kConfig.BM, sizeof(T));
  static constexpr int kPitchB = vector_pitch(kConfig.BN, sizeof(T));

 public:
  /// A warp is 4 x 8 threads. Lanes that differ in bit 0 share their rows, those that differ in
  /// bit 1 their columns: each eight lanes, which the hardware serves together, ask for two
  /// different vectors of A and four of B.
  __device__ explicit ThreadTile(int thread) {
    constexpr int kWarpsAcross = kConfig.thread_cols() / kWarpCols;
    const int warp = thread / 32, lane = thread % 32;
    const int lane_row = lane / 2 % 2 + lane / 16 * 2;
    const int lane_col = lane % 2 + lane / 4 % 4 * 2;
    row_ = (warp / kWarpsAcross * kWarpRows + lane_row) * W;
    col_ = (warp % kWarpsAcross * kWarpCols + lane_col) * W;
  }

  /// Adds the product of two shared tiles.
  __device__ void multiply(const T* s_a, const T* s_b) {
#pragma unroll
    for (int p = 0; p < kConfig.BK; ++p) {
      T r_a[TM], r_b[TN];
      read<TM, kRowStep>(r_a, s_a + p * kPitchA + row_);
      read<TN, kColStep>(r_b, s_b + p * kPitchB + col_);
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) r_c_[i][j] += r_a[i] * r_b[j];
      }
    }
  }

  /// The block's tile starts at (first_row, first_col) of C.
  __device__ void store(const GemmArgs<T>& x, std::int64_t batch, std::int64_t first_row,
                        std::int64_t first_col) const {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const std::int64_t row = first_row + row_ + i / W * kRowStep + i % W;
      store_groups<kColStep>(x, batch, row, first_col + col_, r_c_[i]);
    }
  }

 private:
  template <int kCount, int kStep>
  static __device__ void read(T (&r)[kCount], const T* s) {
#pragma unroll
    for (int group = 0; group < kCount / W; ++group) {
      const Vector<T, W> value = load_vector<W>(s + group * kStep);
#pragma unroll
      for (int e = 0; e < W; ++e) r[group * W + e] = value.element[e];
    }
  }

  int row_, col_;
  T r_c_[TM][TN] = {};
};

}  // namespace tessera::cuda
