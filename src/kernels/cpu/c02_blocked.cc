// c02_blocked: packed panels, a register tile, and blocks that fit the caches.
//
// Idea: the operands are copied ("packed") into panels in the order that the register tile
// (tile.h) reads them, and blocked so that each panel is reused from a cache: a panel of B from
// L1, the block of A from L2, the block of B from L3 (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008; Van Zee and van de Geijn, BLIS, 2015).
// Since c01: every vector of B that is loaded meets several elements of A, the order of memory
// accesses no longer depends on layout, and blocks of C are computed by several threads, which pack
// B together.
// Expected bottleneck: the FMA units for large products; packing for small or skinny ones.
// Operands of 16 bits are widened as they are packed (pack_half.h).
// Limits: none. The bits of C depend on the inputs, k, the caches and the instruction set, not on
// the number of threads, the position of an element in C, or the leading dimensions.
#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/int_math.h"
#include "core/threads.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/pack_half.h"
#include "kernels/cpu/tile.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

using std::int64_t;

/// C block (rows x cols) = merge(packed A (rows x depth) * packed B (depth x cols)). A panel of B
/// stays in L1 while the strips of A pass by from L2, and the next panel comes into L2 meanwhile.
/// Of small depth there are several panels at once, so that rows of C are written in long runs;
/// fewer where C passes by the caches, whose fill buffers its lines and those of B would share.
template <class T>
void multiply_block(const TileKit<T>& kit, int64_t rows, int64_t cols, int64_t panels_at_once,
                    TileCall<T> call) {
  const T *const packed_a = call.a, *const packed_b = call.b;
  T* const c = call.c;
  const int64_t panel = kit.cols * call.depth, group = panels_at_once * kit.cols;
  call.fetches_c = call.merge != Merge::kStream;
  for (int64_t j0 = 0; j0 < cols; j0 += group) {
    const int64_t j1 = std::min(j0 + group, cols);
    // Of the panels that follow, if there are any: their share for a tile, spread over the steps.
    const bool is_last = j1 == cols;
    const int64_t share = ceil_div(panel * kit.rows, rows);
    const int64_t steps = std::max<int64_t>(call.depth - kit.rows, 1);
    call.ahead_bytes = ceil_div(share, steps) * int64_t{sizeof(T)};
    for (int64_t i = 0, strip = 0; i < rows; i += kit.rows, ++strip) {
      call.rows = static_cast<int>(std::min<int64_t>(kit.rows, rows - i));
      call.a = packed_a + i * call.depth;
      for (int64_t j = j0; j < j1; j += kit.cols) {
        call.cols = static_cast<int>(std::min<int64_t>(kit.cols, j1 - j));
        call.b = packed_b + j * call.depth;
        call.c = c + i * call.ldc + j;
        call.ahead = is_last ? nullptr : call.b + panels_at_once * panel + strip * share;
        kit.tile(true, call.rows, call.cols)(call);
      }
    }
  }
}

template <class In, class T>
struct Product {
  const Problem& p;
  const TileKit<T>& kit;
  const In* a;
  const In* b;
  T* c;
  T alpha, beta;
  bool streams;
  int64_t panel_depth;  // that L1 has room for

  Product member(int64_t i) const {
    Product other = *this;
    other.a += i * p.stride_a;
    other.b += i * p.stride_b;
    other.c += i * p.stride_c;
    return other;
  }
};

/// Rows of op(A) from i on, from depth q on.
template <class In, class T>
void pack_a(const Product<In, T>& x, int64_t i, int64_t rows, int64_t q, int64_t depth, T* out) {
  const int64_t ld = x.p.lda;
  pack(x.kit.pack_a, x.kit.rows, x.p.trans_a, x.p.trans_a ? x.a + q * ld + i : x.a + i * ld + q, ld,
       rows, depth, out);
}

/// Columns of op(B) from j on, from depth q on.
template <class In, class T>
void pack_b(const Product<In, T>& x, int64_t j, int64_t cols, int64_t q, int64_t depth, T* out) {
  const int64_t ld = x.p.ldb;
  pack(x.kit.pack_b, x.kit.cols, !x.p.trans_b, x.p.trans_b ? x.b + j * ld + q : x.b + q * ld + j,
       ld, cols, depth, out);
}

/// How far a team has come: tasks done since its work began. Blocks of B with odd and even numbers
/// are counted apart, since one may be packed while the other is.
struct Progress {
  std::atomic<int64_t> packed[2] = {0, 0};
  std::atomic<int64_t> multiplied = 0;
};

/// Products [0, count) of a batch, by one team. The work is a sequence of blocks of B (kc x nc).
/// For each, some tasks pack its panels and others then multiply their region of C by it; they are
/// numbered in that order, and a task waits for what it reads and for what it overwrites.
template <class In, class T>
void multiply_together(const Product<In, T>& all, int64_t count, const Blocks& blocks,
                       const Team& team, std::byte* workspace) {
  const Problem& p = all.p;
  const TileShape tile{all.kit.rows, all.kit.cols};
  const int64_t nc = even_block(p.n, blocks.nc, tile.cols);
  const int64_t kc = even_block(p.k, blocks.kc, kDepthStep);
  const int64_t blocks_across = ceil_div(p.n, nc), blocks_deep = ceil_div(p.k, kc);

  Problem one_block = p;
  one_block.n = nc;
  one_block.batch = 1;
  const Regions regions = choose_regions(one_block, tile, {.a = kPackCost, .b = 0}, team.threads);
  const int64_t panels = nc / tile.cols;
  const int64_t packers = std::min<int64_t>(team.threads, panels);
  const int64_t multipliers = regions.down * regions.across;

  const int64_t shared = team.shared_blocks(), shared_elements = panel_elements<T>(nc, kc);
  T* const packed_b = reinterpret_cast<T*>(workspace);
  T* const packed_a = packed_b + shared * shared_elements;
  const int64_t mc = even_block(regions.rows, blocks.mc, tile.rows);
  Progress progress;

  const auto run_task = [&](int64_t task, int worker) {
    const int64_t block = task / (packers + multipliers), part = task % (packers + multipliers);
    const Product<In, T> x = all.member(block / (blocks_across * blocks_deep));
    const int64_t j = block / blocks_deep % blocks_across * nc, q = block % blocks_deep * kc;
    const int64_t cols = std::min(nc, p.n - j), depth = std::min(kc, p.k - q);
    T* const b = packed_b + block % shared * shared_elements;

    if (part < packers) {
      const int64_t first = panels * part / packers * tile.cols;
      const int64_t last = std::min(panels * (part + 1) / packers * tile.cols, cols);
      wait_until(progress.multiplied, (block + 1 - shared) * multipliers);  // b is free
      if (first < last) pack_b(x, j + first, last - first, q, depth, b + first * depth);
      progress.packed[block % 2].fetch_add(1, std::memory_order_release);
      return;
    }
    const int64_t region = part - packers;
    const int64_t i0 = region / regions.across * regions.rows;
    const int64_t i1 = std::min(i0 + regions.rows, p.m);
    const int64_t first = region % regions.across * regions.cols;
    const int64_t last = std::min(first + regions.cols, cols);
    const int64_t panels_at_once = x.panel_depth / depth / (x.streams ? 4 : 1);
    const Merge merge = q > 0            ? Merge::kAdd
                        : x.beta != T{0} ? Merge::kScale
                        : x.streams      ? Merge::kStream
                                         : Merge::kStore;
    T* const a = packed_a + worker * panel_elements<T>(blocks.mc, kc);
    wait_until(progress.packed[block % 2], (block / 2 + 1) * packers);
    wait_until(progress.multiplied, block * multipliers);  // C has the sums so far
    for (int64_t i = i0; first < last && i < i1; i += mc) {
      const int64_t rows = std::min(mc, i1 - i);
      pack_a(x, i, rows, q, depth, a);
      multiply_block<T>(x.kit, rows, last - first, std::max(panels_at_once, int64_t{1}),
                        {depth, a, 1, tile.rows, b + first * depth, tile.cols,
                         x.c + i * p.ldc + j + first, p.ldc, x.alpha, x.beta, merge, 0, 0});
    }
    // Stores past the caches are seen by others only after a fence.
    if (x.streams) hwy::FlushStream();
    progress.multiplied.fetch_add(1, std::memory_order_release);
  };
  // By reference: a std::function that holds so many captures would allocate.
  parallel_in_order(team.threads, count * blocks_across * blocks_deep * (packers + multipliers),
                    std::cref(run_task));
}

template <class In, class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const TileKit<T>& kit = tile_kit<T>();
  const Teams teams = choose_teams(p, context.threads);
  const Blocks blocks = choose_blocks(p, context.device, {kit.rows, kit.cols}, teams.team);
  const bool streams = o.beta == 0 && p.k <= blocks.kc &&
                       writes_past_caches(p, context.device, kit.lanes * sizeof(T), o.c);
  const Product<In, T> all{p,
                           kit,
                           static_cast<const In*>(o.a),
                           static_cast<const In*>(o.b),
                           static_cast<T*>(o.c),
                           static_cast<T>(o.alpha),
                           static_cast<T>(o.beta),
                           streams,
                           context.device.l1_bytes * 2 / 3 / (kit.cols * int64_t{sizeof(T)})};
  auto* const workspace = static_cast<std::byte*>(context.workspace);
  if (teams.team.threads > 1 || teams.count == 1) {
    return multiply_together(all, p.batch, blocks, teams.team, workspace);
  }
  const auto multiply_one = [&](int64_t i, int worker) {
    multiply_together(all.member(i), 1, blocks, teams.team, workspace + worker * teams.team.bytes);
  };
  parallel_for(teams.count, p.batch, std::cref(multiply_one));
}

}  // namespace

void register_c02_blocked(Registry& registry);
void register_c02_blocked(Registry& registry) {
  for (DType dtype : kCpuInputs) {
    Kernel kernel;
    kernel.id = {"cpu", "blocked", dtype, ""};
    kernel.stem = "c02_blocked";
    kernel.why = "tiles stay in L1, L2 and L3, and a tile of C in registers";
    kernel.summary = "packed panels, register tile, cache blocks, SIMD, threads";
    kernel.arch = "any CPU; AVX2, AVX-512 or NEON where present";
    kernel.limits = "none";
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.workspace_bytes = [](const Problem& p, const DeviceInfo&, int threads) {
      const Teams teams = choose_teams(p, threads);
      return teams.team.bytes * static_cast<std::size_t>(teams.count);
    };
    kernel.estimate_us = estimate_blocked_us;
    kernel.launch = with_elements(dtype, []<class In, class T>() { return multiply<In, T>; });
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
