// The tile sizes of the register-tiled kernels: how they print, when they are legal, what they use.
#pragma once

#include <algorithm>
#include <string>

namespace tessera::cuda {

/// A block computes BM x BN elements of C, BK deep at a time; a thread TM x TN of them.
struct RegisterConfig {
  int BM, BN, BK, TM, TN;

  constexpr int thread_rows() const { return BM / TM; }
  constexpr int thread_cols() const { return BN / TN; }
  constexpr int threads() const { return thread_rows() * thread_cols(); }

  /// e.g. "128x128x8_t8x8"
  std::string to_string() const {
    const auto text = [](int x) { return std::to_string(x); };
    return text(BM) + "x" + text(BN) + "x" + text(BK) + "_t" + text(TM) + "x" + text(TN);
  }
};

/// Elements from one p of a shared tile to the next, where the tile holds `lines` elements for each
/// of BK values of p. Neighbouring lanes that fetch along p store down such a column; this padding
/// spreads one warp's stores (half a warp's for 8-byte elements) over all 32 banks.
constexpr int tile_pitch(int lines, int depth, int element_bytes) {
  return lines + std::max(1, 128 / element_bytes / depth);
}

constexpr int shared_bytes(const RegisterConfig& c, int element_bytes) {
  return element_bytes * c.BK *
         (tile_pitch(c.BM, c.BK, element_bytes) + tile_pitch(c.BN, c.BK, element_bytes));
}

/// Registers a thread needs: its results, one column of A and one row of B, and about 40 for
/// addresses, bounds and loop counters.
constexpr int registers_per_thread(const RegisterConfig& c, int element_bytes) {
  return (c.TM * c.TN + c.TM + c.TN) * element_bytes / 4 + 40;
}

/// Blocks that fit one multiprocessor of the smallest kind: 64K registers, 1024 threads and 64 KiB
/// of shared memory.
constexpr int blocks_per_sm(const RegisterConfig& c, int element_bytes) {
  const int by_registers = 65536 / (registers_per_thread(c, element_bytes) * c.threads());
  const int by_shared = 65536 / shared_bytes(c, element_bytes);
  return std::max(1, std::min({by_registers, by_shared, 1024 / c.threads()}));
}

/// The first rule that the configuration breaks, or null when it is legal.
constexpr const char* broken_rule(const RegisterConfig& c, int element_bytes) {
  if (c.BM < 1 || c.BN < 1 || c.BK < 1 || c.TM < 1 || c.TN < 1) return "every size must be >= 1";
  if (c.BM % c.TM != 0) return "BM must be a multiple of TM";
  if (c.BN % c.TN != 0) return "BN must be a multiple of TN";
  if (c.threads() % 32 != 0) return "(BM / TM) * (BN / TN) threads must be whole warps of 32";
  if (c.threads() > 1024) return "(BM / TM) * (BN / TN) threads must be at most 1024";
  // A pass of the loader covers whole rows of the tile, whichever way it walks it.
  if (c.threads() % c.BK != 0) return "the threads must be a multiple of BK";
  if (c.threads() % c.BM != 0) return "the threads must be a multiple of BM";
  if (c.threads() % c.BN != 0) return "the threads must be a multiple of BN";
  if (c.BM * c.BK % c.threads() != 0) return "BM * BK must be a multiple of the threads";
  if (c.BN * c.BK % c.threads() != 0) return "BN * BK must be a multiple of the threads";
  if (shared_bytes(c, element_bytes) > 48 * 1024) return "the two tiles must fit 48 KiB";
  if (registers_per_thread(c, element_bytes) > 255 ||
      registers_per_thread(c, element_bytes) * c.threads() > 65536) {
    return "TM * TN results a thread need more registers than there are";
  }
  return nullptr;
}

/// Part of the multiply-add peak that the inner loop can reach. For one p a warp starts TM * TN
/// multiply-adds, four a cycle, and reads TM + TN values from shared memory, one a cycle (half of
/// both rates for 8-byte elements); about two fifths of the reads hide behind multiply-adds.
constexpr double peak_fraction(const RegisterConfig& c) {
  const double math = c.TM * c.TN / 4.0, reads = c.TM + c.TN;
  return math / (math + 0.6 * reads);
}

}  // namespace tessera::cuda
