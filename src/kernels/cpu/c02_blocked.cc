// c02_blocked: packed panels, a register tile, and blocks that fit the caches.
//
// Idea: C is cut into tiles of kRows x kCols that stay in vector registers while all of a depth
// block is accumulated; the operands are copied ("packed") into panels in the order the tile reads
// them, and blocked so that each panel is reused from a cache (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008; Van Zee and van de Geijn, BLIS, 2015).
// Since c01: every vector of B that is loaded meets kRows elements of A, the order of memory
// accesses no longer depends on layout, and blocks of C are computed by several threads.
// Expected bottleneck: the FMA units for large products; packing for small or skinny ones.
// Limits: none. The bits of C depend on the inputs, k, the caches and the instruction set, not on
// the number of threads, the position of an element in C, or the leading dimensions.
#include <cstdint>
#include <functional>

#include "core/threads.h"
#include "kernels/cpu/blocking.h"
#include "tessera/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/c02_blocked.cc"
#include "cpu/simd_dispatch.h"
// After it: the set of targets.
#include <hwy/foreach_target.h>
// After it: this file is compiled once for each of them.
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/cpu/pack-inl.h"

// Accumulators stay in registers only when every index into them is a constant.
#ifndef TESSERA_UNROLL
#ifdef __clang__
#define TESSERA_UNROLL _Pragma("unroll")
#else
#define TESSERA_UNROLL _Pragma("GCC unroll 32")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

/// The register tile: kRows x kVectors accumulators, kVectors vectors of B and a broadcast element
/// of A must fit the register file: 32 registers with AVX-512, 32 with NEON (where compilers keep
/// the kRows elements of A in registers too), else 16.
template <class T>
struct Tile {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int kVectors = HWY_ARCH_ARM ? 3 : 2;
  static constexpr int kRows = kLanes * sizeof(T) == 64 ? 14 : 6;
  static constexpr int kCols = kLanes * kVectors;
  static_assert(kRows <= kMaxTileRows && kCols * sizeof(T) <= kMaxTileRowBytes);
  static_assert(kRows % 2 == 0);
};

/// How the accumulated product of a depth block enters C.
enum class Merge { kStore, kScale, kAdd };

/// The same operations for every element, wherever it lies in a tile.
template <class D, class V>
HWY_INLINE V merged(D, Merge merge, V alpha, V sum, V beta, V c) {
  if (merge == Merge::kAdd) return hn::MulAdd(alpha, sum, c);
  return hn::MulAdd(beta, c, hn::Mul(alpha, sum));
}

template <class T>
struct TileCall {
  std::int64_t depth;
  const T* a;  // depth x Tile::kRows, packed
  const T* b;  // depth x Tile::kCols, packed
  T* c;
  std::int64_t ldc;
  T alpha, beta;
  Merge merge;
  int rows, cols;  // of C; the rest of the tile is padding
};

/// A tile at the edge of C, by way of a buffer that is a whole tile wide.
template <class T>
HWY_NOINLINE void merge_edge(const TileCall<T>& call, const T* sums) {
  using S = Tile<T>;
  const typename S::D d;
  HWY_ALIGN T row[S::kCols] = {};
  const auto alpha = hn::Set(d, call.alpha), beta = hn::Set(d, call.beta);
  for (int i = 0; i < call.rows; ++i) {
    T* c = call.c + i * call.ldc;
    if (call.merge != Merge::kStore) std::memcpy(row, c, call.cols * sizeof(T));
    for (int j = 0; j < S::kCols; j += S::kLanes) {
      const auto sum = hn::Load(d, sums + i * S::kCols + j);
      hn::Store(call.merge == Merge::kStore
                    ? hn::Mul(alpha, sum)
                    : merged(d, call.merge, alpha, sum, beta, hn::Load(d, row + j)),
                d, row + j);
    }
    std::memcpy(c, row, call.cols * sizeof(T));
  }
}

/// C tile = merge(sum over p of a(:, p) b(p, :)); one chain of multiply-adds for each element.
/// kUsedRows <= kRows and kUsedVectors <= kVectors leave out padding.
template <class T, int kUsedRows, int kUsedVectors>
HWY_NOINLINE void multiply_tile(const TileCall<T>& call) {
  using S = Tile<T>;
  using V = typename S::V;
  constexpr int kWidth = kUsedVectors * S::kLanes;
  const typename S::D d;
  const bool whole = call.rows == kUsedRows && call.cols == kWidth;
  T* const c = call.c;
  const std::int64_t ldc = call.ldc;

  V sums[kUsedRows][kUsedVectors];
  TESSERA_UNROLL for (int i = 0; i < kUsedRows; ++i) {
    TESSERA_UNROLL for (int v = 0; v < kUsedVectors; ++v) sums[i][v] = hn::Zero(d);
    if (whole) hwy::Prefetch(c + i * ldc);
  }
  const T* HWY_RESTRICT a = call.a;
  const T* HWY_RESTRICT b = call.b;
  for (std::int64_t p = call.depth; p > 0; --p) {
    V b_row[kUsedVectors];
    TESSERA_UNROLL for (int v = 0; v < kUsedVectors; ++v) b_row[v] = hn::Load(d, b + v * S::kLanes);
    TESSERA_UNROLL for (int i = 0; i < kUsedRows; ++i) {
      const V a_element = hn::Set(d, a[i]);
      TESSERA_UNROLL for (int v = 0; v < kUsedVectors; ++v) {
        sums[i][v] = hn::MulAdd(a_element, b_row[v], sums[i][v]);
      }
    }
    a += S::kRows;
    b += S::kCols;
  }

  if (!whole) {
    HWY_ALIGN T buffer[kUsedRows * S::kCols];
    TESSERA_UNROLL for (int i = 0; i < kUsedRows; ++i) {
      TESSERA_UNROLL for (int v = 0; v < S::kVectors; ++v) {
        hn::Store(v < kUsedVectors ? sums[i][v < kUsedVectors ? v : 0] : hn::Zero(d), d,
                  buffer + i * S::kCols + v * S::kLanes);
      }
    }
    return merge_edge(call, buffer);
  }
  const V alpha = hn::Set(d, call.alpha), beta = hn::Set(d, call.beta);
  const Merge merge = call.merge;
  TESSERA_UNROLL for (int i = 0; i < kUsedRows; ++i) {
    TESSERA_UNROLL for (int v = 0; v < kUsedVectors; ++v) {
      T* at = c + i * ldc + v * S::kLanes;
      hn::StoreU(merge == Merge::kStore
                     ? hn::Mul(alpha, sums[i][v])
                     : merged(d, merge, alpha, sums[i][v], beta, hn::LoadU(d, at)),
                 d, at);
    }
  }
}

template <class T>
using TileFunction = void (*)(const TileCall<T>&);

/// The tile for `rows` x `cols`, padded to an even number of rows and whole vectors.
template <class T, int kUsedRows = Tile<T>::kRows, int kUsedVectors = Tile<T>::kVectors>
TileFunction<T> tile_function(int rows, int cols) {
  if constexpr (kUsedRows > 2) {
    if (rows <= kUsedRows - 2) return tile_function<T, kUsedRows - 2, kUsedVectors>(rows, cols);
  }
  if constexpr (kUsedVectors > 1) {
    if (cols <= (kUsedVectors - 1) * Tile<T>::kLanes) {
      return tile_function<T, kUsedRows, kUsedVectors - 1>(rows, cols);
    }
  }
  return &multiply_tile<T, kUsedRows, kUsedVectors>;
}

/// C block (rows x cols) += packed A (rows x depth) * packed B (depth x cols). A strip of A stays
/// in L1 while the panels of B pass by from L2.
template <class T>
void multiply_block(std::int64_t rows, std::int64_t cols, TileCall<T> call) {
  using S = Tile<T>;
  const T* const packed_b = call.b;
  T* const c = call.c;
  for (std::int64_t i = 0; i < rows; i += S::kRows) {
    call.rows = static_cast<int>(std::min<std::int64_t>(S::kRows, rows - i));
    const TileFunction<T> inner = tile_function<T>(call.rows, S::kCols);
    for (std::int64_t j = 0; j < cols; j += S::kCols) {
      call.cols = static_cast<int>(std::min<std::int64_t>(S::kCols, cols - j));
      call.b = packed_b + j * call.depth;
      call.c = c + i * call.ldc + j;
      call.cols == S::kCols ? inner(call) : tile_function<T>(call.rows, call.cols)(call);
    }
    call.a += S::kRows * call.depth;
  }
}

template <class T>
struct Product {
  const Problem& p;
  const T* a;
  const T* b;
  T* c;
  T alpha, beta;
  Blocks blocks;
};

template <class T>
void pack_a(const Product<T>& x, std::int64_t i, std::int64_t rows, std::int64_t q,
            std::int64_t depth, T* out) {
  constexpr int kWidth = Tile<T>::kRows;
  const std::int64_t ld = x.p.lda;
  x.p.trans_a ? pack_adjacent<kWidth>(x.a + q * ld + i, ld, rows, depth, out)
              : pack_transposed<kWidth>(x.a + i * ld + q, ld, rows, depth, out);
}

template <class T>
void pack_b(const Product<T>& x, std::int64_t j, std::int64_t cols, std::int64_t q,
            std::int64_t depth, T* out) {
  constexpr int kWidth = Tile<T>::kCols;
  const std::int64_t ld = x.p.ldb;
  x.p.trans_b ? pack_transposed<kWidth>(x.b + j * ld + q, ld, cols, depth, out)
              : pack_adjacent<kWidth>(x.b + q * ld + j, ld, cols, depth, out);
}

/// Rows [i0, i1) and columns [j0, j1) of C, complete, by one thread.
template <class T>
void multiply_region(const Product<T>& x, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                     std::int64_t j1, void* workspace) {
  using S = Tile<T>;
  const std::int64_t mc = even_block(i1 - i0, x.blocks.mc, S::kRows);
  const std::int64_t nc = even_block(j1 - j0, x.blocks.nc, S::kCols);
  const std::int64_t kc = even_block(x.p.k, x.blocks.kc, kDepthStep);
  T* const packed_b = static_cast<T*>(workspace);
  T* const packed_a = packed_b + panel_elements<T>(nc, kc);
  for (std::int64_t q = 0; q < x.p.k; q += kc) {
    const std::int64_t depth = std::min(kc, x.p.k - q);
    const Merge merge = q > 0 ? Merge::kAdd : x.beta == T{0} ? Merge::kStore : Merge::kScale;
    for (std::int64_t i = i0; i < i1; i += mc) {
      const std::int64_t rows = std::min(mc, i1 - i);
      pack_a(x, i, rows, q, depth, packed_a);
      for (std::int64_t j = j0; j < j1; j += nc) {
        const std::int64_t cols = std::min(nc, j1 - j);
        const bool still_packed = i > i0 && cols == j1 - j0;
        if (!still_packed) pack_b(x, j, cols, q, depth, packed_b);
        multiply_block<T>(rows, cols,
                          {depth, packed_a, packed_b, x.c + i * x.p.ldc + j, x.p.ldc, x.alpha,
                           x.beta, merge, 0, 0});
      }
    }
  }
}

template <class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  using S = Tile<T>;
  const TileShape tile{S::kRows, S::kCols};
  const int threads = useful_threads(p, context.threads);
  const std::size_t slot_bytes = worker_bytes(p, context.device, context.threads);
  const Blocks blocks = choose_blocks(p, context.device, tile, slot_bytes);
  const Regions regions = choose_regions(p, tile, blocks, threads);
  const std::int64_t per_matrix = regions.down * regions.across;

  const auto multiply_task = [&](std::int64_t task, int worker) {
    const std::int64_t matrix = task / per_matrix, region = task % per_matrix;
    const std::int64_t i = region / regions.across * regions.rows;
    const std::int64_t j = region % regions.across * regions.cols;
    const Product<T> product{p,
                             static_cast<const T*>(o.a) + matrix * p.stride_a,
                             static_cast<const T*>(o.b) + matrix * p.stride_b,
                             static_cast<T*>(o.c) + matrix * p.stride_c,
                             static_cast<T>(o.alpha),
                             static_cast<T>(o.beta),
                             blocks};
    multiply_region(product, i, std::min(i + regions.rows, p.m), j, std::min(j + regions.cols, p.n),
                    static_cast<std::byte*>(context.workspace) + worker * slot_bytes);
  };
  // By reference: a std::function that holds so many captures would allocate.
  parallel_for(threads, per_matrix * p.batch, std::cref(multiply_task));
}

void multiply_f32(const Problem& p, const Operands& o, const LaunchContext& context) {
  multiply<float>(p, o, context);
}
void multiply_f64(const Problem& p, const Operands& o, const LaunchContext& context) {
  multiply<double>(p, o, context);
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

void launch(const Problem& p, const Operands& o, const LaunchContext& context) {
  const auto function = p.dtype == DType::kF32 ? simd_choose(HWY_DISPATCH_TABLE(multiply_f32))
                                               : simd_choose(HWY_DISPATCH_TABLE(multiply_f64));
  function(p, o, context);
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
    kernel.launch = launch;
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
