// c05_skinny: few rows of C, a B that no cache holds.
//
// Idea: B is what memory must deliver, so it is read once, in long runs that the processor's own
// prefetching follows, and all rows of A meet each piece while it is in L1.
//   B row by row: a few rows at a time from left to right. The first strip of A packs a panel of
//   them while it multiplies by it, and fetches the rows that come next, so that memory works while
//   the FMA units do. The sums stay in a buffer laid out by tiles, since the rows of C may lie a
//   power of two apart and would push each other out of the cache; so do those of A, which are
//   copied.
//   B column by column: the product turned round. Columns of B, which lie in one piece, pass
//   through the tile as the rows of A do elsewhere, and A is the small operand that is packed.
// Since c02: B is copied through L1 only, a few kilobytes at a time, or not at all.
// Expected bottleneck: memory for a handful of rows, the FMA units for more.
// Operands of 16 bits are widened as they are packed (pack_half.h): memory delivers half the bytes.
// Limits: none, but B passes again for every kFewRows rows. The bits of C do not depend on the
// number of threads nor on the position of an element in C.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

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

// Rows of op(B) at a time: as many streams as processors follow, and as far as the packing tile
// fetches ahead.
constexpr int64_t kRowsAtOnce = 16;
constexpr int64_t kDepth = 512;  // of rows of A that are copied; of columns of B, in one call
// Rows of A with their padding: a whole strip or whole vectors.
constexpr int64_t kPaddedRows = kFewRows + kMaxTileRows;

/// Where one worker's memory lies, in bytes.
struct Slot {
  int64_t panel;  // of B, or of C as it is turned back
  int64_t a;
  int64_t sums;
  std::size_t all() const { return static_cast<std::size_t>(round_up(panel + a + sums, 256)); }
};

/// Sums, and A where B comes by columns, take a part of L2; less where there are very many workers.
Slot slot_of(const Problem& p, const DeviceInfo& device, int threads) {
  constexpr int64_t kLeast = int64_t{64} << 10, kOfAll = int64_t{16} << 20;
  const auto size = static_cast<int64_t>(size_of(p.dtype));
  const int64_t depth = std::min(p.k, kDepth), line = 64;
  const int64_t part =
      std::max(std::min(device.l2_bytes / 8, kOfAll / useful_threads(p, threads)), kLeast);
  Slot slot;
  slot.panel = std::max(kRowsAtOnce, kFewRows) * kMaxWideRowBytes;
  slot.a = kPaddedRows * (round_up(depth * size, line) + line);
  if (p.trans_b) {
    // Columns widened to FP32.
    if (p.input_dtype() != p.dtype) slot.panel = kMaxTileRows * kDepth * size;
    slot.a =
        std::max(slot.a, round_up(std::min(part, kPaddedRows * std::min(p.k, part) * size), line));
  }
  slot.sums = kPaddedRows * (std::min(p.n, part) * size + kMaxWideRowBytes);
  slot.sums = std::min(slot.sums, std::max(part, kPaddedRows * kMaxWideRowBytes));
  return slot;
}

/// From row to row of the copy of A: a cache line more than its depth, which is kDepth or k.
template <class T>
int64_t copy_ld(int64_t k) {
  constexpr int64_t kLine = 64 / int64_t{sizeof(T)};
  return round_up(std::min(k, kDepth), kLine) + kLine;
}

template <class In, class T>
struct Product {
  const Problem& p;
  const TileKit<T>& kit;
  const In* a;
  const In* b;
  T* c;
  T alpha, beta;
  int64_t first, count;  // rows of C that B passes for now

  int64_t widest_cols() const { return int64_t{kit.widest} * kit.lanes; }
};

/// One worker's memory.
template <class T>
struct Buffers {
  T* panel;  // of B, or of C as it is turned back
  T* a;
  int64_t a_size;
  T* sums;
};

/// c(0..count) = alpha sums + beta c.
template <class In, class T>
void merge(const Product<In, T>& x, const T* sums, int64_t count, T* c) {
  for (int64_t v = 0; v < count; ++v) {
    c[v] = x.beta == T{0} ? x.alpha * sums[v] : x.alpha * sums[v] + x.beta * c[v];
  }
}

/// Fills what a panel of `count` lines lacks with its first: zeros times an infinity would raise
/// floating-point exceptions that the product does not.
template <class T>
void repeat_first(int64_t count, int64_t width, int64_t depth, T* panel) {
  if (count == width) return;
  for (T* line = panel; line < panel + depth * width; line += width) {
    std::fill(line + count, line + width, line[0]);
  }
}

// --- B row by row -------------------------------------------------------------------------------

/// Rows of A by strips. The first is as high as the tile that packs: rows that it lacks repeat the
/// first one, which raises no floating-point exceptions of its own, and their sums are left.
template <class In, class T>
struct Strips {
  int count = 0;
  int rows[kFewRows];
  int64_t all_rows = 0, repeated = 0;
  TileFunction<T> packing = nullptr;

  Strips(const TileKit<T>& kit, int64_t wanted) {
    const int64_t most = kit.most_rows[kit.widest - 1];
    if constexpr (std::is_same_v<In, T>) {
      packing = kit.packing_tiles[most - 1][kit.widest - 1];
      add(most);
    }
    while (all_rows < wanted) add(ceil_div(wanted - all_rows, ceil_div(wanted - all_rows, most)));
    repeated = all_rows - wanted;
  }

  void add(int64_t height) {
    rows[count++] = static_cast<int>(height);
    all_rows += height;
  }
};

/// Depths [q, q + depth) of the rows of op(A).
template <class In, class T>
void copy_rows(const Product<In, T>& x, const Strips<In, T>& strips, int64_t q, int64_t depth,
               T* out) {
  const int64_t i_step = x.p.trans_a ? 1 : x.p.lda, p_step = x.p.trans_a ? x.p.lda : 1;
  for (int64_t i = 0; i < strips.all_rows; ++i, out += copy_ld<T>(x.p.k)) {
    const int64_t row = x.first + std::max<int64_t>(i - strips.repeated, 0);
    const In* const from = x.a + row * i_step + q * p_step;
    for (int64_t s = 0; s < depth; ++s) out[s] = static_cast<T>(from[s * p_step]);
  }
}

/// Sums of the columns j..j+cols += A(:, q..q+depth) B(q..q+depth, j..j+cols); A from `a`.
template <class In, class T>
void multiply_panel(const Product<In, T>& x, const Strips<In, T>& strips, T* panel, int64_t j,
                    int64_t cols, int64_t q, int64_t depth, const T* a, T* sums) {
  const int vectors = static_cast<int>(x.kit.vectors(cols));
  const int64_t width = int64_t{vectors} * x.kit.lanes;
  const In* const b = x.b + q * x.p.ldb + j;
  TileCall<T> call{};
  call.depth = depth;
  call.a = a;
  call.a_row = copy_ld<T>(x.p.k);
  call.a_step = 1;
  call.c = sums;
  call.ldc = width;
  call.alpha = T{1};
  call.merge = q == 0 ? Merge::kStore : Merge::kAdd;
  call.cols = static_cast<int>(width);
  int s = 0;
  const auto multiply_strip = [&](const T* from, int64_t step, TileFunction<T> tile) {
    call.rows = strips.rows[s];
    call.b = from;
    call.b_step = step;
    tile(call);
    call.a += strips.rows[s] * copy_ld<T>(x.p.k);
    call.c += strips.rows[s] * width;
    ++s;
  };
  bool is_packed = false;
  if constexpr (std::is_same_v<In, T>) {
    if (strips.packing != nullptr && cols == x.widest_cols()) {
      call.packed = panel;
      multiply_strip(b, x.p.ldb, strips.packing);
      is_packed = true;
    }
  }
  if (!is_packed) {
    pack(x.kit.pack_vectors[vectors - 1], static_cast<int>(width), true, b, x.p.ldb, cols, depth,
         panel);
    repeat_first(cols, width, depth, panel);
  }
  while (s < strips.count) {
    multiply_strip(panel, width, x.kit.tiles[false][strips.rows[s] - 1][vectors - 1]);
  }
}

/// Columns [j0, j1) of C, whose sums fit the buffer.
template <class In, class T>
void multiply_by_rows(const Product<In, T>& x, int64_t j0, int64_t j1, const Buffers<T>& to) {
  const Strips<In, T> strips(x.kit, x.count);
  const int64_t width = x.widest_cols(), panel_size = strips.all_rows * width;
  for (int64_t q0 = 0; q0 < x.p.k; q0 += kDepth) {
    const int64_t a_depth = std::min(kDepth, x.p.k - q0);
    copy_rows(x, strips, q0, a_depth, to.a);
    for (int64_t q = 0; q < a_depth; q += kRowsAtOnce) {
      T* sums = to.sums;
      for (int64_t j = j0; j < j1; j += width, sums += panel_size) {
        multiply_panel(x, strips, to.panel, j, std::min(width, j1 - j), q0 + q,
                       std::min(kRowsAtOnce, a_depth - q), to.a + q, sums);
      }
    }
  }
  const T* sums = to.sums;
  for (int64_t j = j0; j < j1; j += width, sums += panel_size) {
    const int64_t cols = std::min(width, j1 - j);
    const int64_t row_size = x.kit.vectors(cols) * x.kit.lanes;
    for (int64_t i = 0; i < x.count; ++i) {
      merge(x, sums + (strips.repeated + i) * row_size, cols, x.c + (x.first + i) * x.p.ldc + j);
    }
  }
}

// --- B column by column -------------------------------------------------------------------------

/// The rows of A as columns of the product turned round: groups of so many vectors.
struct Groups {
  int vectors;
  int64_t width, count;

  template <class T>
  Groups(const TileKit<T>& kit, int64_t rows) {
    const int64_t all = kit.vectors(rows);
    count = ceil_div(all, int64_t{kit.widest});
    vectors = static_cast<int>(ceil_div(all, count));
    width = int64_t{vectors} * kit.lanes;
  }
};

/// Depths [q, q + depth) of op(A), group by group. Lanes that the last one lacks repeat its first.
template <class In, class T>
void pack_groups(const Product<In, T>& x, const Groups& groups, int64_t q, int64_t depth, T* out) {
  const Problem& p = x.p;
  for (int64_t i = 0; i < x.count; i += groups.width, out += depth * groups.width) {
    const int64_t lines = std::min(groups.width, x.count - i), row = x.first + i;
    pack(x.kit.pack_vectors[groups.vectors - 1], static_cast<int>(groups.width), p.trans_a,
         p.trans_a ? x.a + q * p.lda + row : x.a + row * p.lda + q, p.lda, lines, depth, out);
    repeat_first(lines, groups.width, depth, out);
  }
}

/// Columns [j0, j1) of C, whose sums fit the buffer.
template <class In, class T>
void multiply_by_columns(const Product<In, T>& x, int64_t j0, int64_t j1, const Buffers<T>& to) {
  const Problem& p = x.p;
  const Groups groups(x.kit, x.count);
  const int64_t strip = x.kit.most_rows[groups.vectors - 1], group_sums = (j1 - j0) * groups.width;
  const int64_t most_deep =
      std::max(to.a_size / (groups.count * groups.width) / kDepth, int64_t{1}) * kDepth;
  TileCall<T> call{};
  call.a_step = 1;
  call.b_step = call.ldc = groups.width;
  call.alpha = T{1};
  call.cols = static_cast<int>(groups.width);
  call.ahead_bytes = sizeof(T);
  for (int64_t q0 = 0; q0 < p.k; q0 += most_deep) {
    const int64_t q1 = std::min(q0 + most_deep, p.k);
    pack_groups(x, groups, q0, q1 - q0, to.a);
    for (int64_t j = j0; j < j1; j += strip) {
      call.rows = static_cast<int>(std::min(strip, j1 - j));
      const int64_t next_rows = std::min(strip, j1 - j - call.rows);
      const TileFunction<T> tile = x.kit.tiles[false][call.rows - 1][groups.vectors - 1];
      for (int64_t q = q0; q < q1; q += kDepth) {
        call.depth = std::min(kDepth, q1 - q);
        call.merge = q == 0 ? Merge::kStore : Merge::kAdd;
        const In* const columns = x.b + j * p.ldb + q;
        if constexpr (std::is_same_v<In, T>) {
          call.a = columns;
          call.a_row = p.ldb;
          call.ahead = next_rows > 0 ? columns + strip * p.ldb : nullptr;
          call.ahead_also = next_rows > 1 ? p.ldb : 0;
        } else {
          pack(x.kit.pack_vectors[0], static_cast<int>(kDepth), true, columns, p.ldb, call.depth,
               call.rows, to.panel);
          call.a = to.panel;
          call.a_row = kDepth;
        }
        for (int64_t g = 0; g < groups.count; ++g) {
          call.b = to.a + (g * (q1 - q0) + q - q0) * groups.width;
          call.c = to.sums + g * group_sums + (j - j0) * groups.width;
          tile(call);
        }
      }
    }
  }
  // Turned back, as many columns of C at a time as a panel has.
  const int64_t cols_at_once = x.widest_cols();
  for (int64_t g = 0; g < groups.count; ++g) {
    const int64_t i = g * groups.width, rows = std::min(groups.width, x.count - i);
    for (int64_t j = j0; j < j1; j += cols_at_once) {
      const int64_t cols = std::min(cols_at_once, j1 - j);
      x.kit.pack_vectors[x.kit.widest - 1][false](
          to.sums + g * group_sums + (j - j0) * groups.width, groups.width, cols, rows, to.panel);
      for (int64_t r = 0; r < rows; ++r) {
        merge(x, to.panel + r * cols_at_once, cols, x.c + (x.first + i + r) * p.ldc + j);
      }
    }
  }
}

/// Columns whose sums a worker holds, `step` of them at least, and no more than give all threads
/// some.
template <class In, class T>
int64_t columns_at_once(const Product<In, T>& x, int64_t bytes, int threads) {
  const int64_t rows = std::min(x.p.m, kFewRows);
  const Groups groups(x.kit, rows);
  const int64_t padded =
      x.p.trans_b ? groups.count * groups.width : Strips<In, T>(x.kit, rows).all_rows;
  const int64_t step = x.p.trans_b ? x.kit.most_rows[groups.vectors - 1] : x.widest_cols();
  const int64_t fit = bytes / int64_t{sizeof(T)} / padded / step;
  return std::min(std::max(fit, int64_t{1}), ceil_div(ceil_div(x.p.n, step), int64_t{threads})) *
         step;
}

template <class In, class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const int threads = useful_threads(p, context.threads);
  const Slot slot = slot_of(p, context.device, context.threads);
  const Product<In, T> all{p,
                           tile_kit<T>(),
                           static_cast<const In*>(o.a),
                           static_cast<const In*>(o.b),
                           static_cast<T*>(o.c),
                           static_cast<T>(o.alpha),
                           static_cast<T>(o.beta),
                           0,
                           0};
  const int64_t columns = columns_at_once(all, slot.sums, threads);
  const int64_t blocks = ceil_div(p.n, columns);

  const auto multiply_task = [&](int64_t task, int worker) {
    const int64_t matrix = task / blocks, j = task % blocks * columns;
    const int64_t j_end = std::min(j + columns, p.n);
    Product<In, T> x = all;
    x.a += matrix * p.stride_a;
    x.b += matrix * p.stride_b;
    x.c += matrix * p.stride_c;
    std::byte* const memory = static_cast<std::byte*>(context.workspace) + worker * slot.all();
    const Buffers<T> to{reinterpret_cast<T*>(memory), reinterpret_cast<T*>(memory + slot.panel),
                        slot.a / int64_t{sizeof(T)},
                        reinterpret_cast<T*>(memory + slot.panel + slot.a)};
    for (x.first = 0; x.first < p.m; x.first += kFewRows) {
      x.count = std::min(kFewRows, p.m - x.first);
      p.trans_b ? multiply_by_columns(x, j, j_end, to) : multiply_by_rows(x, j, j_end, to);
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
    kernel.summary = "A packed, B read once by long rows or columns, register tile, threads";
    kernel.arch = "any CPU; AVX2, AVX-512 or NEON where present";
    kernel.limits = "none; made for m <= 24";
    kernel.is_rung = false;
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.workspace_bytes = [](const Problem& p, const DeviceInfo& device, int threads) {
      return slot_of(p, device, threads).all() *
             static_cast<std::size_t>(useful_threads(p, threads));
    };
    kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
      return estimate_us(Regime::kSkinny, p, device);
    };
    kernel.launch = with_elements(dtype, []<class In, class T>() { return multiply<In, T>; });
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
