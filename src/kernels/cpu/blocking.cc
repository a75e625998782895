#include "kernels/cpu/blocking.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/int_math.h"
#include "kernels/cpu/tile.h"

namespace tessera {
namespace {

using std::int64_t;

int64_t round_down(int64_t a, int64_t step) { return std::max(a / step, int64_t{1}) * step; }

constexpr int64_t kMinDepth = 64, kMaxDepth = 512;
// Rows of C that are written side by side when the depth is small: each lies on a page of its own.
constexpr int64_t kMostBlockRows = 384;
constexpr int64_t kMostBytes = int64_t{48} << 20;                  // of all threads together
constexpr int64_t kBlockBytes = int64_t{8} << 20;                  // a block of B
constexpr int64_t kMinDirectBytes = kMaxWideRowBytes * kMaxDepth;  // a panel of any target
constexpr int64_t kMinWorkerBytes = int64_t{192} << 10;  // a strip in half of it, two panels

double multiply_adds(const Problem& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch);
}

/// kc for panels of B with rows of so many bytes.
int64_t block_depth(const DeviceInfo& device, int64_t row_bytes) {
  return std::clamp(round_down(device.l1_bytes * 2 / 3 / row_bytes, kDepthStep), kMinDepth,
                    kMaxDepth);
}

}  // namespace

// From the innermost loop outwards (s is the element's size, MR x NR the register tile):
//
//   kc  L1  A panel of B (kc * NR * s) is read again for every strip of A: two thirds of L1, the
//           passing strip and C have the rest.
//   mc  L2  The strips of A (mc * kc * s) are read again for every panel of B: three eighths of
//           L2, so that panels and C pass by without pushing them out.
//   nc  L3  The panels of B (kc * nc * s) are read again for every block of A, by all threads: what
//           the workspace has left. Wider blocks mean packing A less often.
//
// kc alone decides how sums are rounded, so it depends on nothing but the caches and the tile.
Blocks choose_blocks(const Problem& p, const DeviceInfo& device, TileShape tile, const Team& team) {
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  Blocks out;
  out.kc = block_depth(device, tile.cols * size);
  const int64_t line_bytes = even_block(p.k, out.kc, kDepthStep) * size;
  // A cache line for each block's padding.
  const int64_t bytes =
      static_cast<int64_t>(team.bytes) - 64 * (team.threads + team.shared_blocks());
  const int64_t block_bytes = std::min(device.l2_bytes * 3 / 8, bytes / 2 / team.threads);
  const int64_t rows = std::min(block_bytes / line_bytes, kMostBlockRows);
  out.mc = std::min(round_down(rows, tile.rows), round_up(p.m, tile.rows));
  const int64_t columns =
      (bytes - team.threads * out.mc * line_bytes) / line_bytes / team.shared_blocks();
  out.nc = std::min(round_down(columns, tile.cols), round_up(p.n, tile.cols));
  return out;
}

namespace {

/// Rows of B as they lie are the panels' rows; they must not push each other out of L2, nor out of
/// L1, where few long rows meet many of A while C passes by.
bool fits_in_place(const Problem& p, const DeviceInfo& device) {
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  return !p.trans_b && saturating_mul(p.k, p.ldb) <= device.l2_bytes / 2 / size &&
         (p.k > kShallow || fits_l2(p, device));
}

/// A panel of B stays in L1 while all of A, which is not much larger than L1, passes by.
bool goes_by_panels(const Problem& p, const DeviceInfo& device) {
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  return fits_in_place(p, device) && p.k <= kMaxDepth &&
         p.k * kMaxWideRowBytes <= device.l1_bytes * 2 / 3 &&
         saturating_mul(p.m, p.k) <= device.l1_bytes * 4 / 3 / size;
}

/// Whether a B that fits in place is better copied when its vectors lie across two cache lines, and
/// take the time of two: when many rows meet it and it comes from L2 anyway.
bool pays_to_align(const Problem& p, const DeviceInfo& device) {
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  return !p.trans_a && p.m >= 48 && p.k * p.n > 2 * device.l1_bytes / size;
}

/// kc of c03_direct: a block of B takes three tenths of L2, which strips of A, C and whatever
/// shares the core pass through as well. It is twice as deep as wide: C is read and written once
/// for each block of depth, A is only read for each block of columns.
int64_t direct_depth(const DeviceInfo& device, int64_t size) {
  const double elements = 0.3 * static_cast<double>(device.l2_bytes) / static_cast<double>(size);
  return std::clamp(round_down(static_cast<int64_t>(std::sqrt(2 * elements)), kDepthStep),
                    kMinDepth, kMaxDepth);
}

}  // namespace

DirectBlocks choose_direct_blocks(const Problem& p, const DeviceInfo& device, int64_t widest_cols,
                                  std::size_t worker_bytes, bool b_aligned) {
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  DirectBlocks out{};
  // Small products: no roots, no divisions.
  out.kc = p.k <= kMinDepth ? round_up(p.k, kDepthStep)
                            : even_block(p.k, direct_depth(device, size), kDepthStep);
  out.b_in_place = fits_in_place(p, device) && (b_aligned || !pays_to_align(p, device));
  out.by_panels = out.b_in_place && goes_by_panels(p, device) && p.k <= out.kc;
  if (out.b_in_place) return out;
  // All columns if a block as deep as the sums has room for them, then as deep as there is room.
  const auto elements = static_cast<int64_t>(worker_bytes) / size;
  out.nc = std::min(round_down(elements / out.kc, widest_cols), round_up(p.n, widest_cols));
  out.packed_depth = round_down(elements / out.nc, out.kc);
  return out;
}

bool exceeds_caches(const Problem& p, const DeviceInfo& device) {
  const double kept = device.l3_bytes > 0 ? static_cast<double>(device.l3_bytes) / 2
                                          : 8.0 * static_cast<double>(device.l2_bytes);
  return static_cast<double>(p.m) * static_cast<double>(p.n) *
             static_cast<double>(size_of(p.dtype)) >=
         kept;
}

bool writes_past_caches(const Problem& p, const DeviceInfo& device, std::size_t vector_bytes,
                        const void* c) {
  constexpr std::uintptr_t kLine = 64;
  const auto is_line = [](std::int64_t bytes) {
    return static_cast<std::uintptr_t>(bytes) % kLine == 0;
  };
  const auto element = static_cast<int64_t>(size_of(p.dtype));
  return vector_bytes == kLine && reinterpret_cast<std::uintptr_t>(c) % kLine == 0 &&
         (p.m == 1 || is_line(p.ldc * element)) &&
         (p.batch == 1 || is_line(p.stride_c * element)) && exceeds_caches(p, device);
}

bool fits_l2(const Problem& p, const DeviceInfo& device) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto size = static_cast<double>(size_of(p.dtype));
  return ((m + n) * k + m * n) * size <= static_cast<double>(device.l2_bytes);
}

int useful_threads(const Problem& p, int threads) {
  if (threads == 1) return 1;
  // About as much work as waking a thread costs, ten times over.
  constexpr double kMultiplyAddsPerThread = 5e5;
  const double most = std::max(1.0, multiply_adds(p) / kMultiplyAddsPerThread);
  return most < threads ? static_cast<int>(most) : threads;
}

// Two blocks of B and 1 MiB for each thread's block of A, at most 48 MiB in all but never less than
// the 192 KiB a thread that the widest tile needs: under 64 MiB up to 256 threads.
Teams choose_teams(const Problem& p, int threads) {
  threads = useful_threads(p, threads);
  const bool one_each = p.batch >= threads;
  Teams out{one_each ? threads : 1, {one_each ? 1 : threads, 0}};
  const int64_t members = out.team.threads, blocks = out.team.shared_blocks();
  const int64_t most =
      std::max(std::min(kMostBytes / out.count, blocks * kBlockBytes + (members << 20)),
               members * kMinWorkerBytes);
  // The operands whole, padded to tiles; sizes are first cut to what `most` can hold.
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  const int64_t lines = members * (std::min(p.m, most) + kMaxTileRows) +
                        blocks * (std::min(p.n, most) + kMaxTileRowBytes / size);
  const int64_t depth = round_up(std::min(p.k, kMaxDepth), kDepthStep);
  const int64_t whole = lines * depth * size + 64 * (members + blocks);
  out.team.bytes = static_cast<std::size_t>(round_up(std::min(most, whole), 256));
  return out;
}

// A block of B, or B whole if it is smaller. Where B lies in memory is not known yet.
std::size_t direct_worker_bytes(const Problem& p, const DeviceInfo& device, int threads) {
  if (fits_in_place(p, device) && !pays_to_align(p, device)) return 0;
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  const int64_t most =
      std::clamp(std::min(device.l2_bytes * 3 / 10, kMostBytes / useful_threads(p, threads)),
                 kMinDirectBytes, kMostBytes);
  const int64_t columns = std::min(p.n, most) + kMaxWideRowBytes / size;
  const int64_t depth = round_up(std::min(p.k, most), kDepthStep);
  return static_cast<std::size_t>(round_up(std::min(most, columns * depth * size), 256));
}

// The grid with the smallest predicted time of the slowest thread. A task costs its multiply-adds
// and the packing of its own operands. Fewer, larger tasks pack less; more tasks even out what the
// threads get.
Regions choose_regions(const Problem& p, TileShape tile, TaskCosts costs, int threads) {
  const int64_t tiles_down = ceil_div(p.m, tile.rows), tiles_across = ceil_div(p.n, tile.cols);
  if (threads == 1) return {tiles_down * tile.rows, tiles_across * tile.cols, 1, 1};
  constexpr double kStragglers = 0.125;  // of a task: threads do not start or run alike
  const int64_t most_tasks = int64_t{8} * threads;
  Regions best{};
  double best_cost = std::numeric_limits<double>::infinity();
  for (int64_t down = 1; down <= std::min(tiles_down, most_tasks); ++down) {
    for (int64_t across = 1; across <= std::min(tiles_across, most_tasks / down); ++across) {
      Regions r;
      r.rows = ceil_div(tiles_down, down) * tile.rows;
      r.cols = ceil_div(tiles_across, across) * tile.cols;
      r.down = ceil_div(p.m, r.rows);
      r.across = ceil_div(p.n, r.cols);
      const double rows = static_cast<double>(r.rows), cols = static_cast<double>(r.cols);
      const double task = rows * cols + costs.a * rows + costs.b * cols;
      const double rounds = static_cast<double>(ceil_div(r.down * r.across * p.batch, threads));
      const double cost = task * (rounds + kStragglers);
      if (cost < best_cost) {
        best_cost = cost;
        best = r;
      }
    }
  }
  return best;
}

double estimate_blocked_us(const Problem& p, const DeviceInfo& device) {
  const int64_t vector_bytes = device.simd.rfind("AVX3", 0) == 0 ? 64
                               : device.simd == "AVX2"           ? 32
                               : device.simd == "SCALAR"         ? 4
                                                                 : 16;
  const auto size = static_cast<double>(size_of(p.dtype));
  // Two vectors of multiply-adds a cycle at about 2.5 GHz; tiles are padded to even rows.
  const double per_us = 5000.0 * std::max(1.0, static_cast<double>(vector_bytes) / size);
  const double m = static_cast<double>(round_up(p.m, 2)), n = static_cast<double>(p.n);
  const double k = static_cast<double>(p.k), batch = static_cast<double>(p.batch);
  const double packed = (m + n) * k * batch;
  const double threads = useful_threads(p, device.cores);
  return 0.2 + (m * std::max(n, static_cast<double>(vector_bytes) / size) * k * batch / per_us +
                packed / 2000.0) /
                   threads;
}

}  // namespace tessera
