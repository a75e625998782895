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

/// Whether no vector of B lies across two of the pieces of memory that a load takes at once.
template <class T>
bool is_aligned(const Problem& p, const void* b, int64_t lanes) {
  const auto divides = [&](int64_t elements) { return (elements & (lanes - 1)) == 0; };
  return reinterpret_cast<std::uintptr_t>(b) % (static_cast<std::size_t>(lanes) * sizeof(T)) == 0 &&
         divides(p.ldb) && (p.batch == 1 || divides(p.stride_b));
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
  /// From i on, how many are as large.
  int64_t alike(int64_t i) const { return (i < larger ? larger : count) - i; }
};

/// Panels of B that are alike, side by side.
struct Panels {
  int64_t first, count;  // the number of the first one, and how many
  int64_t j;             // its column
  int vectors, cols;
  int skip;  // columns at its left that belong to another panel: TileCall
};

/// Columns [j0, j1) of C: panels of at most two widths, the last one perhaps not whole vectors.
struct Columns {
  int64_t count = 0;  // panels
  int groups = 0;
  Panels group[3];

  template <class T>
  Columns(const Product<T>& x, int64_t j0, int64_t j1) {
    const int64_t lanes = x.kit.lanes;
    const Shares shares(x.kit.vectors(j1 - j0), x.kit.widest);
    count = shares.count;
    const int64_t part = (j1 - j0) & (lanes - 1);
    int64_t j = j0;
    for (int64_t i = 0; i < count;) {
      const int vectors = static_cast<int>(shares[i]);
      const int64_t width = vectors * lanes;
      int64_t alike = shares.alike(i);
      if (part != 0 && i + alike == count && alike > 1) --alike;
      const bool is_part = part != 0 && i + alike == count;
      // From rows of B, the last one begins further left then, so as to end where B ends.
      const int64_t skip = is_part && !x.p.trans_b ? std::min(lanes - part, j) : 0;
      const int64_t cols = is_part ? j1 - j + skip : width;
      group[groups++] = {
          i, alike, j - skip, vectors, static_cast<int>(cols), static_cast<int>(skip)};
      i += alike;
      j += alike * width;
    }
  }
};

/// `rows` dealt to strips for panels of so many vectors.
template <class T>
Shares deal_rows(const Product<T>& x, int64_t rows, int vectors) {
  return Shares(rows, std::min<int64_t>(x.kit.most_rows[vectors - 1], rows_side_by_side<T>(x.p)));
}

/// What packs a panel of B as the first strip multiplies by it, if there is such a tile.
template <class T>
TileFunction<T> packing_tile(const Product<T>& x, const Shares& strips, const Panels& panels) {
  const bool from_rows =
      !x.p.trans_a && !x.p.trans_b && panels.cols == panels.vectors * x.kit.lanes;
  return from_rows ? x.kit.packing_tiles[strips[0] - 1][panels.vectors - 1] : nullptr;
}

/// What the calls for a block have in common.
template <class T>
TileCall<T> common_call(const Product<T>& x) {
  TileCall<T> call;
  call.a_row = call.a_step = x.p.lda;
  call.ldc = x.p.ldc;
  call.alpha = x.alpha;
  call.beta = x.beta;
  call.fetches_c = x.fetches_c;
  call.ahead_bytes = sizeof(T);
  return call;
}

/// Depths from q on, B in place: those panels, or one of them.
template <class T>
void take_b_in_place(const Product<T>& x, const Panels& panels, int64_t q, TileCall<T>& call) {
  call.b = x.b + q * x.p.ldb + panels.j;
  call.b_step = x.p.ldb;
  call.cols = panels.cols;
  call.skip = panels.skip;
  call.exact_b = panels.cols < panels.vectors * x.kit.lanes;
}

/// The strips of rows from i0, the columns, depths [q0, q1): a strip of A meets every panel of B
/// before the next one is begun, so that A comes once, row after row, and B stays in L2. The panels
/// that are alike take one call. `packed` is null where B is read in place.
template <class T>
void multiply_strips(const Product<T>& x, const Shares& strips, const Columns& columns, int64_t i0,
                     int64_t q0, int64_t q1, T* packed) {
  const Problem& p = x.p;
  const int64_t packed_width = x.kit.widest * x.kit.lanes;
  TileCall<T> call = common_call(x);
  call.ahead_next = p.lda;
  int64_t i = i0;
  for (int64_t strip = 0; strip < strips.count; ++strip, i += call.rows) {
    call.rows = static_cast<int>(strips[strip]);
    const int64_t next_rows = p.trans_a || strip + 1 == strips.count ? 0 : strips[strip + 1];
    for (int64_t q = q0; q < q1; q += call.depth) {
      call.depth = std::min(x.blocks.kc, q1 - q);
      call.merge = q > 0 ? Merge::kAdd : x.first_merge;
      const T* const a = p.trans_a ? x.a + q * p.lda + i : x.a + i * p.lda + q;
      for (int g = 0; g < columns.groups; ++g) {
        const Panels& panels = columns.group[g];
        take_b_in_place(x, panels, q, call);
        call.a = a;
        call.c = x.c + i * p.ldc + panels.j;
        call.count = static_cast<int>(panels.count);
        call.b_next = call.c_next = panels.vectors * x.kit.lanes;
        // With each panel a row of the next strip; two, where it has more rows than there are
        // panels.
        call.ahead = panels.first < next_rows ? a + (call.rows + panels.first) * p.lda : nullptr;
        call.ahead_also = panels.first + columns.count < next_rows ? columns.count * p.lda : 0;
        if (packed != nullptr) {
          const int64_t width = panels.vectors * x.kit.lanes;
          T* const own = packed + panels.first * (q1 - q0) * packed_width + (q - q0) * width;
          const TileFunction<T> packing = packing_tile(x, strips, panels);
          if (strip == 0 && packing != nullptr) {
            call.packed = own;
            call.packed_next = (q1 - q0) * packed_width;
            packing(call);
            continue;
          }
          call.b = own;
          call.b_step = width;
          call.b_next = (q1 - q0) * packed_width;
          call.exact_b = false;
        }
        x.kit.tiles[p.trans_a][call.rows - 1][panels.vectors - 1](call);
      }
    }
  }
}

/// The same the other way round, B in place, one block of depth: a panel of B meets all strips of A
/// before the next one is begun. The strips that are alike take one call.
template <class T>
void multiply_panels(const Product<T>& x, const Columns& columns, int64_t i0, int64_t i1) {
  const Problem& p = x.p;
  TileCall<T> call = common_call(x);
  call.depth = p.k;
  call.merge = x.first_merge;
  for (int g = 0; g < columns.groups; ++g) {
    const Panels& panels = columns.group[g];
    const Shares strips = deal_rows(x, i1 - i0, panels.vectors);
    take_b_in_place(x, panels, 0, call);
    for (int64_t panel = 0; panel < panels.count; ++panel) {
      int64_t i = i0;
      for (int64_t strip = 0; strip < strips.count; strip += strips.alike(strip)) {
        call.rows = static_cast<int>(strips[strip]);
        call.a_next = p.trans_a ? call.rows : call.rows * p.lda;
        call.c_next = call.rows * p.ldc;
        call.a = p.trans_a ? x.a + i : x.a + i * p.lda;
        call.c = x.c + i * p.ldc + panels.j + panel * panels.cols;
        call.count = static_cast<int>(strips.alike(strip));
        i += call.rows * call.count;
        x.kit.tiles[p.trans_a][call.rows - 1][panels.vectors - 1](call);
      }
      call.b += panels.cols;
    }
  }
}

/// The columns of op(B), depths [q0, q1), into the panels that multiply_strips reads, but those
/// that it packs itself.
template <class T>
void pack_b(const Product<T>& x, const Shares& strips, const Columns& columns, int64_t q0,
            int64_t q1, T* packed) {
  const Problem& p = x.p;
  for (int g = 0; g < columns.groups; ++g) {
    const Panels& panels = columns.group[g];
    if (packing_tile(x, strips, panels) != nullptr) continue;
    for (int64_t i = 0; i < panels.count; ++i) {
      const int64_t j = panels.j + i * panels.cols;
      x.kit.pack_vectors[panels.vectors - 1][!p.trans_b](
          p.trans_b ? x.b + j * p.ldb + q0 : x.b + q0 * p.ldb + j, p.ldb, panels.cols, q1 - q0,
          packed + (panels.first + i) * x.kit.widest * x.kit.lanes * (q1 - q0));
    }
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
    const Columns columns(x, j, end);
    if (blocks.b_in_place && x.p.k <= blocks.kc && (columns.count == 1 || blocks.by_panels)) {
      multiply_panels(x, columns, i0, i1);
      continue;
    }
    const Shares strips = deal_rows(x, i1 - i0, columns.group[0].vectors);
    for (int64_t q = 0; q < x.p.k; q += depth) {
      const int64_t q1 = std::min(q + depth, x.p.k);
      if (!blocks.b_in_place) pack_b(x, strips, columns, q, q1, packed);
      multiply_strips(x, strips, columns, i0, q, q1, blocks.b_in_place ? nullptr : packed);
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
                         choose_direct_blocks(p, context.device, widest.cols, slot_bytes,
                                              is_aligned<T>(p, o.b, kit.lanes)),
                         p.batch > 1 || !fits_l2(p, context.device),
                         o.beta != 0 ? Merge::kScale : Merge::kStore};
  if (threads == 1 && p.batch == 1) {
    return multiply_region(first, 0, p.m, 0, p.n, static_cast<T*>(context.workspace));
  }
  const Regions regions = choose_regions(
      p, widest, {.a = kReadCost, .b = first.blocks.b_in_place ? kReadCost : kFarCost}, threads);
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
