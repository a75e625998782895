// c02_blocked: packed panels, a register tile, and blocks that fit the caches.
//
// Idea: the operands are copied ("packed") into panels in the order that the register tile
// (tile.h) reads them, and blocked so that each panel is reused from a cache: a panel of B from
// L1, the block of A from L2, the block of B from L3 (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008; Van Zee and van de Geijn, BLIS, 2015).
// Since c01: every vector of B that is loaded meets several elements of A, the order of memory
// accesses no longer depends on layout, and blocks of C are computed by several threads.
// Expected bottleneck: the FMA units for large products; packing for small or skinny ones.
// Limits: none. The bits of C depend on the inputs, k, the caches and the instruction set, not on
// the number of threads, the position of an element in C, or the leading dimensions.
#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/threads.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/tile.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

/// C block (rows x cols) = merge(packed A (rows x depth) * packed B (depth x cols)). A panel of B
/// stays in L1 while the strips of A pass by from L2.
template <class T>
void multiply_block(const TileKit<T>& kit, std::int64_t rows, std::int64_t cols, TileCall<T> call) {
  const T* const packed_a = call.a;
  T* const c = call.c;
  for (std::int64_t j = 0; j < cols; j += kit.cols) {
    call.cols = static_cast<int>(std::min<std::int64_t>(kit.cols, cols - j));
    const TileFunction<T> whole = kit.tile(true, kit.rows, call.cols);
    for (std::int64_t i = 0; i < rows; i += kit.rows) {
      call.rows = static_cast<int>(std::min<std::int64_t>(kit.rows, rows - i));
      call.a = packed_a + i * call.depth;
      call.c = c + i * call.ldc + j;
      call.rows == kit.rows ? whole(call) : kit.tile(true, call.rows, call.cols)(call);
    }
    call.b += kit.cols * call.depth;
  }
}

template <class T>
struct Product {
  const Problem& p;
  const TileKit<T>& kit;
  const T* a;
  const T* b;
  T* c;
  T alpha, beta;
  Blocks blocks;
  bool streams;
};

template <class T>
void pack_a(const Product<T>& x, std::int64_t i, std::int64_t rows, std::int64_t q,
            std::int64_t depth, T* out) {
  const std::int64_t ld = x.p.lda;
  x.kit.pack_a[x.p.trans_a](x.p.trans_a ? x.a + q * ld + i : x.a + i * ld + q, ld, rows, depth,
                            out);
}

template <class T>
void pack_b(const Product<T>& x, std::int64_t j, std::int64_t cols, std::int64_t q,
            std::int64_t depth, T* out) {
  const std::int64_t ld = x.p.ldb;
  x.kit.pack_b[!x.p.trans_b](x.p.trans_b ? x.b + j * ld + q : x.b + q * ld + j, ld, cols, depth,
                             out);
}

/// Rows [i0, i1) and columns [j0, j1) of C, complete, by one thread.
template <class T>
void multiply_region(const Product<T>& x, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                     std::int64_t j1, void* workspace) {
  const std::int64_t mc = even_block(i1 - i0, x.blocks.mc, x.kit.rows);
  const std::int64_t nc = even_block(j1 - j0, x.blocks.nc, x.kit.cols);
  const std::int64_t kc = even_block(x.p.k, x.blocks.kc, kDepthStep);
  T* const packed_b = static_cast<T*>(workspace);
  T* const packed_a = packed_b + panel_elements<T>(nc, kc);
  for (std::int64_t j = j0; j < j1; j += nc) {
    const std::int64_t cols = std::min(nc, j1 - j);
    for (std::int64_t q = 0; q < x.p.k; q += kc) {
      const std::int64_t depth = std::min(kc, x.p.k - q);
      const Merge merge = q > 0            ? Merge::kAdd
                          : x.beta != T{0} ? Merge::kScale
                          : x.streams      ? Merge::kStream
                                           : Merge::kStore;
      pack_b(x, j, cols, q, depth, packed_b);
      for (std::int64_t i = i0; i < i1; i += mc) {
        const std::int64_t rows = std::min(mc, i1 - i);
        pack_a(x, i, rows, q, depth, packed_a);
        multiply_block<T>(x.kit, rows, cols,
                          {depth, packed_a, 1, x.kit.rows, packed_b, x.kit.cols,
                           x.c + i * x.p.ldc + j, x.p.ldc, x.alpha, x.beta, merge, 0, 0});
      }
    }
  }
  // Stores past the caches are seen by others only after a fence.
  if (x.streams) hwy::FlushStream();
}

template <class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const TileKit<T>& kit = tile_kit<T>();
  const TileShape tile{kit.rows, kit.cols};
  const int threads = useful_threads(p, context.threads);
  const std::size_t slot_bytes = worker_bytes(p, context.device, context.threads);
  const Blocks blocks = choose_blocks(p, context.device, tile, slot_bytes);
  const Regions regions = choose_regions(p, tile, blocks, threads);
  const std::int64_t per_matrix = regions.down * regions.across;
  const bool streams = o.beta == 0 && p.k <= blocks.kc &&
                       writes_past_caches(p, context.device, kit.lanes * sizeof(T), o.c);

  const auto multiply_task = [&](std::int64_t task, int worker) {
    const std::int64_t matrix = task / per_matrix, region = task % per_matrix;
    const std::int64_t i = region / regions.across * regions.rows;
    const std::int64_t j = region % regions.across * regions.cols;
    const Product<T> product{p,
                             kit,
                             static_cast<const T*>(o.a) + matrix * p.stride_a,
                             static_cast<const T*>(o.b) + matrix * p.stride_b,
                             static_cast<T*>(o.c) + matrix * p.stride_c,
                             static_cast<T>(o.alpha),
                             static_cast<T>(o.beta),
                             blocks,
                             streams};
    multiply_region(product, i, std::min(i + regions.rows, p.m), j, std::min(j + regions.cols, p.n),
                    static_cast<std::byte*>(context.workspace) + worker * slot_bytes);
  };
  // By reference: a std::function that holds so many captures would allocate.
  parallel_for(threads, per_matrix * p.batch, std::cref(multiply_task));
}

}  // namespace

void register_c02_blocked(Registry& registry);
void register_c02_blocked(Registry& registry) {
  for (DType dtype : {DType::kF32, DType::kF64}) {
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
    kernel.workspace_bytes = [](const Problem& p, const DeviceInfo& device, int threads) {
      return worker_bytes(p, device, threads) *
             static_cast<std::size_t>(useful_threads(p, threads));
    };
    kernel.estimate_us = estimate_blocked_us;
    kernel.launch = dtype == DType::kF32 ? multiply<float> : multiply<double>;
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
