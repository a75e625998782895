// The sizes c02_blocked and c03_direct work with: cache blocks, the regions that threads take,
// workspace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/kernel.h"

namespace tessera {

/// Rows and columns of the register tile of one instruction set.
struct TileShape {
  std::int64_t rows, cols;
};
/// Depth blocks are a multiple of this: a cache line of FP32, so that no line of A is fetched
/// twice.
inline constexpr std::int64_t kDepthStep = 16;

/// Threads that compute one product together: each packs its own block of A, all share the packed
/// blocks of B, of which a second one is filled while the first is in use.
struct Team {
  int threads;
  std::size_t bytes;  ///< of workspace, a multiple of 256
  int shared_blocks() const { return threads > 1 ? 2 : 1; }
};
/// A batch of many products is dealt to teams of one thread; else all threads are one team.
struct Teams {
  int count;
  Team team;
};
Teams choose_teams(const Problem& p, int threads);

/// Largest cache blocks: A is packed mc x kc, B kc x nc.
struct Blocks {
  std::int64_t mc, nc, kc;
};
Blocks choose_blocks(const Problem& p, const DeviceInfo& device, TileShape tile, const Team& team);

/// Of c03_direct: sums are kc deep; B is read where it lies, or packed packed_depth x nc. In place,
/// and `by_panels`: a panel of B fits L1, and A is not much larger.
struct DirectBlocks {
  std::int64_t kc;
  bool b_in_place, by_panels;
  std::int64_t packed_depth, nc;
};
/// `b_aligned`: no vector of B lies across two cache lines.
DirectBlocks choose_direct_blocks(const Problem& p, const DeviceInfo& device,
                                  std::int64_t widest_cols, std::size_t worker_bytes,
                                  bool b_aligned);

/// `total` cut into equal blocks of at most `largest`; a multiple of `step`, which divides largest.
inline std::int64_t even_block(std::int64_t total, std::int64_t largest, std::int64_t step) {
  if (total <= largest)
    return (total + step - 1) / step * step;  // small products: no more divisions
  const std::int64_t count = (total + largest - 1) / largest;
  const std::int64_t size = (total + count - 1) / count;
  return (size + step - 1) / step * step;
}

/// Elements of a packed block, padded so that the next one starts on a cache line.
template <class T>
constexpr std::int64_t panel_elements(std::int64_t lines, std::int64_t depth) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  return (lines * depth + kLine - 1) / kLine * kLine;
}

/// C cut into down x across regions of rows x cols (multiples of the tile), one task each.
struct Regions {
  std::int64_t rows, cols, down, across;
};
/// What a task spends besides its multiply-adds on an element of its rows of A and of its columns
/// of B, in the time of so many multiply-adds.
struct TaskCosts {
  double a, b;
};
inline constexpr double kPackCost = 16;  // it is copied first
inline constexpr double kReadCost = 8;   // it comes from another cache than the task's own
inline constexpr double kFarCost = 40;   // it is copied from rows that lie pages apart
Regions choose_regions(const Problem& p, TileShape tile, TaskCosts costs, int threads);

/// Depths at which reading and writing C takes as long as multiplying.
inline constexpr std::int64_t kShallow = 64;

/// Whether C is too large to be found in a cache later: it takes half of the last one
/// (without an L3, eight times L2).
bool exceeds_caches(const Problem& p, const DeviceInfo& device);

/// Whether all of such a C is written once, with vectors of whole cache lines that need not be read
/// first. `vector_bytes` is of the instruction set in use.
bool writes_past_caches(const Problem& p, const DeviceInfo& device, std::size_t vector_bytes,
                        const void* c);

/// Whether A, B and C of one product fit a core's L2 side by side.
bool fits_l2(const Problem& p, const DeviceInfo& device);

/// Threads worth waking for this much work, at most `threads`.
int useful_threads(const Problem& p, int threads);
/// Workspace of one worker of c03_direct, a multiple of 256; 0 when it packs nothing.
std::size_t direct_worker_bytes(const Problem& p, const DeviceInfo& device, int threads);
/// Predicted time of c02_blocked in microseconds.
double estimate_blocked_us(const Problem& p, const DeviceInfo& device);

}  // namespace tessera
