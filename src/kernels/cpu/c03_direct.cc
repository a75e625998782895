// c03_direct: A is read where it lies; B too, or the first rows that meet it pack it.
//
// Idea: a strip of few rows of A (6, of 4 vectors' width with AVX-512) stays in L1 while all of a
// block of B passes from L2, so no copy of A is needed, and no panel of B needs to fit L1. A B that
// takes no more than half of L2 is read in place. A larger one is cut into blocks of three tenths
// of L2, and the first strip packs each panel while it multiplies by it: the stores cost nothing
// beside the multiply-adds, and threads that each pack their own block need not wait for one
// another. Rows and columns are dealt evenly, because a small tile waits for its own multiply-adds.
// Since c02: no pass over A before the product, which small products spend much of their time on,
// which a tall one with few columns never earns back, and which a large one can spare. Expected
// bottleneck: the FMA units while operands lie in caches; the read of A when C is narrow. Limits:
// none, but it is chosen for a large transposed A nowhere (each step of depth would be on a page of
// its own), and for large operands only where L2 has 1 MiB. The bits of C do not depend on the
// number of threads nor on the position of an element in C.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/int_math.h"
#include "core/threads.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/regime.h"
#include "kernels/cpu/tile.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

using std::int64_t;

template <class T>
struct Product {
  const Problem& p;
  const TileKit<T>& kit;
  const T* a;
  const T* b;
  T* c;
  T alpha, beta;
  DirectBlocks blocks;
  bool fetches_c;
  Merge first_merge;  // of the first block of depth
};

/// Rows of A that a tile reads side by side, at most. Rows a multiple of 4096 bytes apart meet in
/// one set of L1, which holds 8 to 12 lines: more would push each other out before their lines are
/// used up.
template <class T>
int64_t rows_side_by_side(const Problem& p) {
  constexpr int64_t kSetPeriod = 4096 / sizeof(T), kWays = 8;
  const bool one_set = !p.trans_a && p.lda % kSetPeriod == 0;
  return one_set ? kWays : kMaxTileRows;
}

/// `total` dealt evenly to the fewest parts of at most `most`, the larger ones first: a tile of few
/// rows or vectors waits for its own multiply-adds.
struct Shares {
  int64_t count = 1, low, larger = 0;
  Shares(int64_t total, int64_t most) : low(total) {
    if (total <= most) return;  // small products: no division
    count = ceil_div(total, most);
    low = total / count;
    larger = total % count;
  }
  int64_t operator[](int64_t i) const { return low + (i < larger ? 1 : 0); }
};

/// Whether the first strip packs a panel of B while it multiplies by it.
template <class T>
bool packs_itself(const Product<T>& x, const Shares& strips, int64_t vectors, int64_t cols) {
  return !x.p.trans_a && !x.p.trans_b && strips[0] == x.kit.most_rows[x.kit.widest - 1] &&
         vectors == x.kit.widest && cols == vectors * x.kit.lanes;
}

/// The strips of rows from i0, columns [j0, j1) of C, depths [q0, q1): a strip of A meets every
/// panel of B before the next one is begun, so that A comes once, row after row, and B stays in L2.
template <class T>
void multiply_block(const Product<T>& x, const Shares& strips, const Shares& panels, int64_t i0,
                    int64_t j0, int64_t j1, int64_t q0, int64_t q1, T* packed) {
  const Problem& p = x.p;
  const int64_t lanes = x.kit.lanes, packed_width = x.kit.widest * lanes;
  TileCall<T> call{};
  call.a_row = call.a_step = p.lda;
  call.ldc = p.ldc;
  call.alpha = x.alpha;
  call.beta = x.beta;
  call.fetches_c = x.fetches_c;
  int64_t i = i0;
  for (int64_t strip = 0; strip < strips.count; ++strip, i += call.rows) {
    call.rows = static_cast<int>(strips[strip]);
    for (int64_t q = q0; q < q1; q += call.depth) {
      call.depth = std::min(x.blocks.kc, q1 - q);
      call.merge = q > 0 ? Merge::kAdd : x.first_merge;
      call.a = p.trans_a ? x.a + q * p.lda + i : x.a + i * p.lda + q;
      int64_t j = j0;
      for (int64_t panel = 0; panel < panels.count; ++panel, j += call.cols) {
        const int64_t vectors = panels[panel];
        call.cols = static_cast<int>(std::min(vectors * lanes, j1 - j));
        call.c = x.c + i * p.ldc + j;
        // With each panel, a row of the next strip.
        const bool has_row = !p.trans_a && strip + 1 < strips.count && panel < strips[strip + 1];
        call.ahead = has_row ? call.a + (call.rows + panel) * p.lda : nullptr;
        call.ahead_bytes = sizeof(T);
        const T* const in_place = x.b + q * p.ldb + j;
        if (packed == nullptr) {
          call.b = in_place;
          call.b_step = p.ldb;
          call.exact_b = call.cols < vectors * lanes;
        } else {
          T* const own = packed + (panel * (q1 - q0) + q - q0) * packed_width;
          if (strip == 0 && packs_itself(x, strips, vectors, call.cols)) {
            call.b = in_place;
            call.b_step = p.ldb;
            call.packed = own;
            x.kit.packing_tile(call);
            continue;
          }
          call.b = own;
          call.b_step = packed_width;
        }
        x.kit.tiles[p.trans_a][call.rows - 1][vectors - 1](call);
      }
    }
  }
}

/// Columns [j0, j1) of op(B), depths [q0, q1), into the panels that multiply_block reads, but those
/// that it packs itself.
template <class T>
void pack_b(const Product<T>& x, const Shares& strips, const Shares& panels, int64_t j0, int64_t j1,
            int64_t q0, int64_t q1, T* packed) {
  const Problem& p = x.p;
  int64_t j = j0;
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    const int64_t vectors = panels[panel], cols = std::min(vectors * x.kit.lanes, j1 - j);
    if (!packs_itself(x, strips, vectors, cols)) {
      x.kit.pack_wide_b[!p.trans_b](p.trans_b ? x.b + j * p.ldb + q0 : x.b + q0 * p.ldb + j, p.ldb,
                                    cols, q1 - q0, packed);
    }
    packed += x.kit.widest * x.kit.lanes * (q1 - q0);
    j += cols;
  }
}

/// Rows [i0, i1) and columns [j0, j1) of C, complete, by one thread.
template <class T>
void multiply_region(const Product<T>& x, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                     T* packed) {
  const DirectBlocks& blocks = x.blocks;
  const int64_t depth = blocks.b_in_place ? x.p.k : blocks.packed_depth;
  const int64_t nc = blocks.b_in_place
                         ? j1 - j0
                         : even_block(j1 - j0, blocks.nc, int64_t{x.kit.widest} * x.kit.lanes);
  for (int64_t j = j0, end; j < j1; j = end) {
    end = std::min(j + nc, j1);
    const Shares panels(x.kit.vectors(end - j), x.kit.widest);
    const int64_t most_rows = x.kit.most_rows[panels[0] - 1];
    const Shares strips(i1 - i0, std::min(most_rows, rows_side_by_side<T>(x.p)));
    for (int64_t q = 0; q < x.p.k; q += depth) {
      const int64_t q1 = std::min(q + depth, x.p.k);
      if (!blocks.b_in_place) pack_b(x, strips, panels, j, end, q, q1, packed);
      multiply_block<T>(x, strips, panels, i0, j, end, q, q1, blocks.b_in_place ? nullptr : packed);
    }
  }
}

template <class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const TileKit<T>& kit = tile_kit<T>();
  const TileShape widest{kit.most_rows[kit.widest - 1], int64_t{kit.widest} * kit.lanes};
  const int threads = useful_threads(p, context.threads);
  const std::size_t slot_bytes = direct_worker_bytes(p, context.device, context.threads);
  const Product<T> first{p,
                         kit,
                         static_cast<const T*>(o.a),
                         static_cast<const T*>(o.b),
                         static_cast<T*>(o.c),
                         static_cast<T>(o.alpha),
                         static_cast<T>(o.beta),
                         choose_direct_blocks(p, context.device, widest.cols, slot_bytes),
                         p.batch > 1 || !fits_l2(p, context.device),
                         o.beta != 0    ? Merge::kScale
                         : o.alpha == 1 ? Merge::kCopy
                                        : Merge::kStore};
  if (threads == 1 && p.batch == 1) {
    return multiply_region(first, 0, p.m, 0, p.n, static_cast<T*>(context.workspace));
  }
  const Regions regions =
      choose_regions(p, widest, {.a = kReadCost, .b = p.trans_b ? kPackCost : kReadCost}, threads);
  const int64_t per_matrix = regions.down * regions.across;
  const auto multiply_task = [&](int64_t task, int worker) {
    const int64_t matrix = task / per_matrix, region = task % per_matrix;
    const int64_t i = region / regions.across * regions.rows;
    const int64_t j = region % regions.across * regions.cols;
    Product<T> x = first;
    x.a += matrix * p.stride_a;
    x.b += matrix * p.stride_b;
    x.c += matrix * p.stride_c;
    auto* const packed = static_cast<std::byte*>(context.workspace) + worker * slot_bytes;
    multiply_region(x, i, std::min(i + regions.rows, p.m), j, std::min(j + regions.cols, p.n),
                    reinterpret_cast<T*>(packed));
  };
  parallel_for(threads, per_matrix * p.batch, std::cref(multiply_task));
}

}  // namespace

void register_c03_direct(Registry& registry);
void register_c03_direct(Registry& registry) {
  for (DType dtype : {DType::kF32, DType::kF64}) {
    Kernel kernel;
    kernel.id = {"cpu", "direct", dtype, ""};
    kernel.stem = "c03_direct";
    kernel.why = "a strip of A that stays in L1 needs no copy";
    kernel.summary = "A in place, B in place or packed as it is first used, register tile, threads";
    kernel.arch = "any CPU; AVX2, AVX-512 or NEON where present";
    kernel.limits = "none";
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.workspace_bytes = [](const Problem& p, const DeviceInfo& device, int threads) {
      return direct_worker_bytes(p, device, threads) *
             static_cast<std::size_t>(useful_threads(p, threads));
    };
    kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
      return estimate_us(Regime::kDirect, p, device);
    };
    kernel.launch = dtype == DType::kF32 ? multiply<float> : multiply<double>;
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
