// c05_skinny: few rows of C, a B that no cache holds.
//
// Idea: B is what memory must deliver, so it is read once, in long runs that the processor's own
// prefetching follows, and all rows of A meet each piece while it is in L1. A row-major op(B) is
// taken a few rows at a time from left to right; a column-major one a panel of columns at a time
// from top to bottom. The sums stay in a buffer laid out by tiles, since the rows of C may lie a
// power of two apart and would push each other out of the cache.
// Since c02: B is copied through L1 only, a few kilobytes at a time.
// Expected bottleneck: memory for a handful of rows, the FMA units for more.
// Operands of 16 bits are widened as they are packed (pack_half.h): memory delivers half the bytes.
// Limits: none, but B passes again for every kFewRows rows. The bits of C do not depend on the
// number of threads nor on the position of an element in C.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/int_math.h"
#include "core/threads.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/pack_half.h"
#include "kernels/cpu/regime.h"
#include "kernels/cpu/tile.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

using std::int64_t;

// Rows of op(B) at a time: as many streams as processors follow, or a few cache lines of columns.
constexpr int64_t kRowsAtOnce = 16, kColumnDepth = 64;
constexpr int64_t kDepth = 512;  // of the packed rows of A, a multiple of both
constexpr int64_t kPanelBytes = kMaxTileRowBytes * kColumnDepth;
constexpr int64_t kPaddedRows = kFewRows + kMaxTileRows;  // strips are whole

/// Bytes of sums that one worker holds: a part of L2, less where there are very many workers.
int64_t sum_bytes(const Problem& p, int threads) {
  constexpr int64_t kMost = int64_t{256} << 10, kOfAll = int64_t{24} << 20;
  return std::clamp(kOfAll / useful_threads(p, threads), kMost / 4, kMost);
}

/// Columns of C whose sums one worker holds.
int64_t columns_at_once(int64_t rows, int64_t bytes, int64_t size, int64_t tile_cols) {
  return std::max(bytes / size / rows / tile_cols, int64_t{1}) * tile_cols;
}

std::size_t skinny_worker_bytes(const Problem& p, int threads) {
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  const int64_t most = sum_bytes(p, threads);
  const int64_t a = kPaddedRows * std::min(round_up(p.k, kColumnDepth), kDepth) * size;
  const int64_t sums =
      std::min(most, kPaddedRows * (std::min(p.n, most) * size + kMaxTileRowBytes));
  return static_cast<std::size_t>(round_up(a + sums + kPanelBytes, 256));
}

template <class T>
struct Strip {
  int64_t first;
  int rows;
  TileFunction<T> whole;  // for whole panels
};
constexpr int kMostStrips = 8;

template <class In, class T>
struct Product {
  const Problem& p;
  const TileKit<T>& kit;
  const In* a;
  const In* b;
  T* c;
  T alpha, beta;
  int strips = 0;
  Strip<T> strip[kMostStrips] = {};

  /// Rows [first, first + count) in strips of nearly equal height: a tile of few rows waits for its
  /// own multiply-adds.
  void deal_rows(int64_t first, int64_t count) {
    strips = static_cast<int>(ceil_div(count, int64_t{kit.rows}));
    for (int s = 0; s < strips; ++s) {
      const int rows = static_cast<int>(count / strips + (s < count % strips ? 1 : 0));
      strip[s] = {first, rows, kit.tile(true, rows, kit.cols)};
      first += rows;
    }
  }
};

/// One worker's memory.
template <class T>
struct Buffers {
  T* a;      // strips of A, `depth` deep
  T* panel;  // of B
  T* sums;   // panels of C, each strip by strip
};

/// Sums of a panel of columns += A(:, q..q+depth) B(q..q+depth, j..j+cols); A from `a`, whose
/// strips are `a_depth` deep.
template <class In, class T>
void multiply_panel(const Product<In, T>& x, T* panel, int64_t j, int64_t cols, int64_t q,
                    int64_t depth, const T* a, int64_t a_depth, T* sums) {
  const Problem& p = x.p;
  const int64_t rows = x.kit.rows, width = x.kit.cols;
  pack(x.kit.pack_b, x.kit.cols, !p.trans_b, p.trans_b ? x.b + j * p.ldb + q : x.b + q * p.ldb + j,
       p.ldb, cols, depth, panel);
  TileCall<T> call{depth,
                   a,
                   1,
                   rows,
                   panel,
                   width,
                   sums,
                   width,
                   T{1},
                   T{0},
                   q == 0 ? Merge::kStore : Merge::kAdd,
                   0,
                   x.kit.cols};
  for (int s = 0; s < x.strips; ++s) {
    call.rows = x.strip[s].rows;
    x.strip[s].whole(call);
    call.a += a_depth * rows;
    call.c += rows * width;
  }
}

template <class In, class T>
void pack_strips(const Product<In, T>& x, int64_t q, int64_t depth, T* out) {
  const Problem& p = x.p;
  for (int s = 0; s < x.strips; ++s, out += depth * x.kit.rows) {
    const int64_t i = x.strip[s].first;
    pack(x.kit.pack_a, x.kit.rows, p.trans_a, p.trans_a ? x.a + q * p.lda + i : x.a + i * p.lda + q,
         p.lda, x.strip[s].rows, depth, out);
  }
}

/// C(:, j0..j1) = alpha sums + beta C.
template <class In, class T>
void merge_sums(const Product<In, T>& x, int64_t j0, int64_t j1, const T* sums) {
  const int64_t rows = x.kit.rows, width = x.kit.cols;
  for (int64_t j = j0; j < j1; j += width) {
    const int64_t count = std::min(width, j1 - j);
    for (int s = 0; s < x.strips; ++s, sums += rows * width) {
      for (int r = 0; r < x.strip[s].rows; ++r) {
        const T* from = sums + r * width;
        T* c = x.c + (x.strip[s].first + r) * x.p.ldc + j;
        for (int64_t v = 0; v < count; ++v) {
          c[v] = x.beta == T{0} ? x.alpha * from[v] : x.alpha * from[v] + x.beta * c[v];
        }
      }
    }
  }
}

/// Columns [j0, j1) of C, whose sums fit the buffer.
template <class In, class T>
void multiply_columns(const Product<In, T>& x, int64_t j0, int64_t j1, const Buffers<T>& to) {
  const Problem& p = x.p;
  const int64_t width = x.kit.cols, rows = x.kit.rows;
  const int64_t panel_size = x.strips * rows * width;
  for (int64_t q0 = 0; q0 < p.k; q0 += kDepth) {
    const int64_t a_depth = std::min(kDepth, p.k - q0);
    pack_strips(x, q0, a_depth, to.a);
    const auto multiply_at = [&](int64_t j, int64_t q, int64_t depth, T* sums) {
      multiply_panel(x, to.panel, j, std::min(width, j1 - j), q0 + q, depth, to.a + q * rows,
                     a_depth, sums);
    };
    if (p.trans_b) {
      T* sums = to.sums;
      for (int64_t j = j0; j < j1; j += width, sums += panel_size) {
        for (int64_t q = 0; q < a_depth; q += kColumnDepth) {
          multiply_at(j, q, std::min(kColumnDepth, a_depth - q), sums);
        }
      }
    } else {
      for (int64_t q = 0; q < a_depth; q += kRowsAtOnce) {
        T* sums = to.sums;
        for (int64_t j = j0; j < j1; j += width, sums += panel_size) {
          multiply_at(j, q, std::min(kRowsAtOnce, a_depth - q), sums);
        }
      }
    }
  }
  merge_sums(x, j0, j1, to.sums);
}

template <class In, class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const TileKit<T>& kit = tile_kit<T>();
  const int threads = useful_threads(p, context.threads);
  const std::size_t slot_bytes = skinny_worker_bytes(p, context.threads);
  const int64_t rows = round_up(std::min(p.m, kFewRows), int64_t{kit.rows});
  const int64_t panels = ceil_div(p.n, int64_t{kit.cols});
  const int64_t share = ceil_div(panels, int64_t{threads}) * kit.cols;
  const int64_t columns =
      std::min(columns_at_once(rows, sum_bytes(p, context.threads), sizeof(T), kit.cols), share);
  const int64_t blocks = ceil_div(p.n, columns);

  const auto multiply_task = [&](int64_t task, int worker) {
    const int64_t matrix = task / blocks, j = task % blocks * columns;
    Product<In, T> product{p,
                           kit,
                           static_cast<const In*>(o.a) + matrix * p.stride_a,
                           static_cast<const In*>(o.b) + matrix * p.stride_b,
                           static_cast<T*>(o.c) + matrix * p.stride_c,
                           static_cast<T>(o.alpha),
                           static_cast<T>(o.beta)};
    auto* const slot = static_cast<std::byte*>(context.workspace) + worker * slot_bytes;
    auto* const panel = reinterpret_cast<T*>(slot);
    T* const a = panel + kPanelBytes / sizeof(T);
    T* const sums = a + rows * std::min(kDepth, p.k);
    for (int64_t i = 0; i < p.m; i += kFewRows) {
      product.deal_rows(i, std::min(kFewRows, p.m - i));
      multiply_columns(product, j, std::min(j + columns, p.n), Buffers<T>{a, panel, sums});
    }
  };
  parallel_for(threads, blocks * p.batch, std::cref(multiply_task));
}

}  // namespace

void register_c05_skinny(Registry& registry);
void register_c05_skinny(Registry& registry) {
  for (DType dtype : kCpuInputs) {
    Kernel kernel;
    kernel.id = {"cpu", "skinny", dtype, ""};
    kernel.stem = "c05_skinny";
    kernel.why = "with few rows, B should pass from memory once, in the order it lies there";
    kernel.summary = "A packed, B streamed through L1 once, sums in L2, register tile, threads";
    kernel.arch = "any CPU; AVX2, AVX-512 or NEON where present";
    kernel.limits = "none; made for m <= 24";
    kernel.is_rung = false;
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.workspace_bytes = [](const Problem& p, const DeviceInfo&, int threads) {
      return skinny_worker_bytes(p, threads) * static_cast<std::size_t>(useful_threads(p, threads));
    };
    kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
      return estimate_us(Regime::kSkinny, p, device);
    };
    kernel.launch = with_elements(dtype, []<class In, class T>() { return multiply<In, T>; });
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
