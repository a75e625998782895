// The tile sizes of the kernels that move 16 bytes at a time: how they print, when they are legal.
#pragma once

#include <algorithm>
#include <string>

#include "cuda/register_config.h"

namespace tessera::cuda {

/// Elements in one 128-bit access.
constexpr int vector_width(int element_bytes) { return 16 / element_bytes; }

/// k values that one warp covers where a panel is contiguous along k: one or two whole sectors of
/// 32 bytes, and as many steps of the padded pitch as spread its stores over all banks.
inline constexpr int kWarpDepth = 8;

/// A warp's threads cover this many rows and columns of the block's grid of threads.
inline constexpr int kWarpRows = 4, kWarpCols = 8;

/// A block computes BM x BN elements of C, BK deep at a time, with `stages` pairs of shared tiles;
/// a thread computes TM x TN of them. Global memory is read `vector` elements at a time: 16 bytes,
/// or one element where pointers or leading dimensions forbid that.
struct VectorConfig {
  int BM, BN, BK, TM, TN, stages, vector;

  constexpr int thread_rows() const { return BM / TM; }
  constexpr int thread_cols() const { return BN / TN; }
  constexpr int threads() const { return thread_rows() * thread_cols(); }
  constexpr bool is_narrow() const { return vector == 1; }

  /// e.g. "128x128x8_t8x8_v4", "128x128x16_t8x8_s2_v1"
  std::string to_string() const {
    const std::string tile = RegisterConfig{BM, BN, BK, TM, TN}.to_string();
    const std::string depth = stages > 1 ? "_s" + std::to_string(stages) : "";
    return tile + depth + "_v" + std::to_string(vector);
  }
};

/// A configuration as a type: nvcc takes no class values as arguments of a __global__ template.
template <int... kSizes>
struct VectorConfigOf {
  static constexpr VectorConfig kValue{kSizes...};
};

/// Elements from one p of a shared tile to the next. The rows stay multiples of 16 bytes, and step
/// by 4 banks: kWarpDepth of them, 4 banks wide each, fill all 32.
constexpr int vector_pitch(int lines, int element_bytes) {
  return lines + vector_width(element_bytes);
}

constexpr int shared_bytes(const VectorConfig& c, int element_bytes) {
  return element_bytes * c.stages * c.BK *
         (vector_pitch(c.BM, element_bytes) + vector_pitch(c.BN, element_bytes));
}

constexpr int registers_per_thread(const VectorConfig& c, int element_bytes) {
  return registers_per_thread(RegisterConfig{c.BM, c.BN, c.BK, c.TM, c.TN}, element_bytes);
}

/// Blocks that fit one multiprocessor with 64K registers, 1024 threads and 100 KiB of shared
/// memory, 1 KiB of it per block taken by the system: compute capability 8.6 and newer.
constexpr int blocks_per_sm(const VectorConfig& c, int element_bytes) {
  const int by_registers = 65536 / (registers_per_thread(c, element_bytes) * c.threads());
  const int by_shared = (100 << 10) / (shared_bytes(c, element_bytes) + 1024);
  return std::max(1, std::min({by_registers, by_shared, 1024 / c.threads()}));
}

/// The first rule that a tile of `lines` lines breaks: threads cover it in whole passes.
constexpr const char* broken_copy_rule(int lines, int depth, int threads, int vector,
                                       int element_bytes) {
  const int warps = threads / 32;
  const int line_chunks = lines / (32 / kWarpDepth * vector);  // a warp wide each
  if (lines % (128 / element_bytes) != 0) return "BM and BN must be multiples of 128 bytes";
  if (threads % (lines / vector) != 0) return "a pass must cover whole rows of both tiles";
  if (depth % (threads / (lines / vector)) != 0) return "BK must be whole passes of both tiles";
  if (line_chunks % warps != 0 && warps % line_chunks != 0) {
    return "the warps must divide a tile's lines, or the other way round";
  }
  if (line_chunks * (depth / kWarpDepth) % warps != 0) return "the tiles must occupy every warp";
  return nullptr;
}

/// The first rule that the configuration breaks, or null when it is legal.
constexpr const char* broken_rule(const VectorConfig& c, int element_bytes) {
  const int width = vector_width(element_bytes);
  if (c.BM < 1 || c.BN < 1 || c.BK < 1 || c.TM < 1 || c.TN < 1 || c.stages < 1) {
    return "every size must be >= 1";
  }
  if (c.vector != 1 && c.vector != width) return "a vector must be one element or 16 bytes";
  if (c.TM % width != 0 || c.TN % width != 0) return "TM and TN must be multiples of 16 bytes";
  if (c.BM % c.TM != 0) return "BM must be a multiple of TM";
  if (c.BN % c.TN != 0) return "BN must be a multiple of TN";
  if (c.thread_rows() % kWarpRows != 0 || c.thread_cols() % kWarpCols != 0) {
    return "BM / TM x BN / TN threads must be whole warps of 4 x 8";
  }
  if (c.threads() > 1024) return "BM / TM x BN / TN threads must be at most 1024";
  if (c.BK % kWarpDepth != 0) return "BK must be a multiple of 8";
  for (const int lines : {c.BM, c.BN}) {
    for (const int vector : {1, c.vector}) {
      const char* rule = broken_copy_rule(lines, c.BK, c.threads(), vector, element_bytes);
      if (rule != nullptr) return rule;
    }
  }
  if (shared_bytes(c, element_bytes) > 48 * 1024) return "all stages must fit 48 KiB";
  if (registers_per_thread(c, element_bytes) > 255 ||
      registers_per_thread(c, element_bytes) * c.threads() > 65536) {
    return "TM * TN results a thread need more registers than there are";
  }
  return nullptr;
}

/// Part of the multiply-add peak that the inner loop can reach. For one p a warp starts TM * TN
/// multiply-adds, four a cycle, and reads TM + TN values, 16 bytes a request and two cycles a
/// request (half of both rates for 8-byte elements); about two fifths of them hide. Narrow loads
/// take some of the issue slots.
constexpr double peak_fraction(const VectorConfig& c) {
  const double math = c.TM * c.TN / 4.0, reads = (c.TM + c.TN) / 2.0;
  return math / (math + 0.6 * reads) * (c.is_narrow() ? 0.95 : 1);
}

}  // namespace tessera::cuda
