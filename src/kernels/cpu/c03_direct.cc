// c03_direct: A is read where it lies; only B is packed, or not even that.
//
// Idea: packing A pays when its strips meet many columns. Where all of A's block stays in L2
// anyway, or C is only a few panels wide, the tile reads A's rows in place and the copy is saved. A
// B that takes no more than half of L2 is read in place too. Rows are dealt evenly to the strips,
// because a tile of few rows waits for its own multiply-adds. Since c02: no pass over A before the
// product, which small products spend much of their time on, and which a tall one with few columns
// never earns back. Expected bottleneck: the FMA units while operands lie in caches; the read of A
// when C is narrow. Limits: none, but on operands larger than the caches c02 is faster. The bits of
// C do not depend on the number of threads nor on the position of an element in C.
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
  Blocks blocks;
  int64_t in_place_bytes;  // rows of B that span more are packed
  int64_t strip_rows;
};

/// Rows of A that a tile reads side by side. Rows a multiple of 4096 bytes apart meet in one set of
/// L1, which holds 8 to 12 lines: more would push each other out before their lines are used up.
template <class T>
int64_t rows_side_by_side(const Problem& p, const TileKit<T>& kit) {
  constexpr int64_t kSetPeriod = 4096 / sizeof(T), kWays = 8;
  const bool one_set = !p.trans_a && p.lda % kSetPeriod == 0;
  return one_set ? std::min<int64_t>(kit.rows, kWays) : kit.rows;
}

/// Rows [first, ...) cut into strips of nearly equal height, the higher ones first.
struct Strips {
  int64_t first, count, low, higher;
  Strips(int64_t first_row, int64_t rows, int64_t most)
      : first(first_row), count(ceil_div(rows, most)), low(rows / count), higher(rows % count) {}
};

/// These rows of C times one panel of B.
template <class T>
void multiply_panel(const Product<T>& x, const Strips& strips, int64_t j, int64_t q,
                    TileCall<T> call) {
  const Problem& p = x.p;
  int64_t i = strips.first;
  for (int64_t strip = 0; strip < strips.count; ++strip, i += call.rows) {
    call.rows = static_cast<int>(strips.low + (strip < strips.higher ? 1 : 0));
    call.a = p.trans_a ? x.a + q * p.lda + i : x.a + i * p.lda + q;
    call.c = x.c + i * p.ldc + j;
    x.kit.tile(p.trans_a, call.rows, call.cols)(call);
  }
}

/// Rows [i0, i1) and columns [j0, j1) of C, complete, by one thread.
template <class T>
void multiply_region(const Product<T>& x, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                     T* packed) {
  const Problem& p = x.p;
  const int64_t width = x.kit.cols;
  // Two panels at most: A comes from memory once, if the second finds it in L1. (Rows are not
  // copied, so a block may end in a strip that is not whole.)
  const bool is_narrow = j1 - j0 <= 2 * width;
  const int64_t mc = even_block(i1 - i0, is_narrow ? 2 * x.strip_rows : x.blocks.mc, x.strip_rows);
  const int64_t nc = even_block(j1 - j0, x.blocks.nc, width);
  const int64_t kc = even_block(p.k, x.blocks.kc, kDepthStep);
  for (int64_t q = 0; q < p.k; q += kc) {
    const int64_t depth = std::min(kc, p.k - q);
    const Merge merge = q > 0 ? Merge::kAdd : x.beta == T{0} ? Merge::kStore : Merge::kScale;
    const bool b_in_place =
        !p.trans_b && saturating_mul(depth, p.ldb) <= x.in_place_bytes / int64_t{sizeof(T)};
    for (int64_t j_block = j0; j_block < j1; j_block += nc) {
      const int64_t j_end = std::min(j_block + nc, j1);
      // Panels of nearly equal width, as strips are of nearly equal height.
      const int64_t all_vectors = ceil_div(j_end - j_block, int64_t{x.kit.lanes});
      const int64_t panels = ceil_div(j_end - j_block, width);
      const int64_t low = all_vectors / panels, wider = all_vectors % panels;
      TileCall<T> call{depth, nullptr, p.lda,  p.lda, nullptr, width, nullptr,
                       p.ldc, x.alpha, x.beta, merge, 0,       0};
      for (int64_t i = i0; i < i1; i += mc) {
        const Strips strips(i, std::min(mc, i1 - i), x.strip_rows);
        int64_t j = j_block;
        for (int64_t number = 0; number < panels; ++number, j += call.cols) {
          const int64_t vectors = low + (number < wider ? 1 : 0);
          call.cols = static_cast<int>(std::min(vectors * x.kit.lanes, j_end - j));
          if (b_in_place && call.cols % x.kit.lanes == 0) {
            call.b = x.b + q * p.ldb + j;
            call.b_step = p.ldb;
          } else {
            T* const panel = packed + number * width * kc;
            if (i == i0) {
              x.kit.pack_b[!p.trans_b](p.trans_b ? x.b + j * p.ldb + q : x.b + q * p.ldb + j, p.ldb,
                                       call.cols, depth, panel);
            }
            call.b = panel;
            call.b_step = width;
          }
          multiply_panel(x, strips, j, q, call);
        }
      }
    }
  }
}

template <class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const TileKit<T>& kit = tile_kit<T>();
  const TileShape tile{kit.rows, kit.cols};
  const int threads = useful_threads(p, context.threads);
  const std::size_t slot_bytes = direct_worker_bytes(p, context.threads);
  const Blocks blocks = choose_direct_blocks(p, context.device, tile, slot_bytes);
  const Regions regions = choose_regions(p, tile, {.a = false, .b = true}, threads);
  const int64_t per_matrix = regions.down * regions.across;

  const auto multiply_task = [&](int64_t task, int worker) {
    const int64_t matrix = task / per_matrix, region = task % per_matrix;
    const int64_t i = region / regions.across * regions.rows;
    const int64_t j = region % regions.across * regions.cols;
    const Product<T> product{p,
                             kit,
                             static_cast<const T*>(o.a) + matrix * p.stride_a,
                             static_cast<const T*>(o.b) + matrix * p.stride_b,
                             static_cast<T*>(o.c) + matrix * p.stride_c,
                             static_cast<T>(o.alpha),
                             static_cast<T>(o.beta),
                             blocks,
                             context.device.l2_bytes / 2,
                             rows_side_by_side<T>(p, kit)};
    auto* const packed = static_cast<std::byte*>(context.workspace) + worker * slot_bytes;
    multiply_region(product, i, std::min(i + regions.rows, p.m), j, std::min(j + regions.cols, p.n),
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
    kernel.why = "small and narrow products do not pay for a copy of A";
    kernel.summary = "A in place, B packed a panel at a time or in place, register tile, threads";
    kernel.arch = "any CPU; AVX2, AVX-512 or NEON where present";
    kernel.limits = "none";
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.workspace_bytes = [](const Problem& p, const DeviceInfo&, int threads) {
      return direct_worker_bytes(p, threads) * static_cast<std::size_t>(useful_threads(p, threads));
    };
    kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
      return estimate_us(Regime::kDirect, p, device);
    };
    kernel.launch = dtype == DType::kF32 ? multiply<float> : multiply<double>;
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
