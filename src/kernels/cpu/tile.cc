#include "kernels/cpu/tile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tile.cc"
#include "cpu/simd_dispatch.h"
// After it: the set of targets.
#include <hwy/foreach_target.h>
// After it: this file is compiled once for each of them.
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/cpu/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

/// kRows x kVectors accumulators, kVectors vectors of B and a broadcast element of A must fit the
/// register file: 32 registers with AVX-512, 32 with NEON (where compilers keep the kRows elements
/// of A in registers too), else 16. A step of 8 x 3 loads 11 times for 24 multiply-adds, one of
/// 14 x 2 16 times for 28: the wider tile leaves the load ports free for the next panel.
template <class T>
struct Tile {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr bool kWide = kLanes * sizeof(T) == 64;
  static constexpr int kVectors = kWide || HWY_ARCH_ARM ? 3 : 2;
  static constexpr int kRows = kWide ? 8 : 6;
  static constexpr int kCols = kLanes * kVectors;
  static_assert(kRows <= kMaxTileRows && kVectors <= kMaxTileVectors);
  static_assert(kCols * sizeof(T) <= kMaxTileRowBytes);
};

/// The same operations for every element, wherever it lies in a tile.
template <class D, class V>
HWY_INLINE V merged(D, Merge merge, V alpha, V sum, V beta, V c) {
  if (merge == Merge::kAdd) return hn::MulAdd(alpha, sum, c);
  return hn::MulAdd(beta, c, hn::Mul(alpha, sum));
}

HWY_INLINE bool is_added(Merge merge) { return merge == Merge::kScale || merge == Merge::kAdd; }

template <class T, bool kAdjacent, int kRows, int kVectors>
HWY_NOINLINE void multiply_tile(const TileCall<T>& call) {
  using S = Tile<T>;
  using V = typename S::V;
  const typename S::D d;
  const std::int64_t last = call.cols - (kVectors - 1) * S::kLanes;  // columns in the last vector
  T* const c = call.c;
  const std::int64_t ldc = call.ldc;

  V sums[kRows][kVectors];
  TESSERA_UNROLL for (int i = 0; i < kRows; ++i) {
    TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
    TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
      if (call.merge != Merge::kStream) hwy::Prefetch(c + i * ldc + v * S::kLanes);
    }
  }
  const T* HWY_RESTRICT a = call.a;
  const T* HWY_RESTRICT b = call.b;
  const std::int64_t a_row = kAdjacent ? 1 : call.a_row;
  const std::int64_t a_step = kAdjacent ? call.a_step : 1;
  const std::int64_t b_step = call.b_step;
  for (std::int64_t p = call.depth; p > 0; --p, a += a_step, b += b_step) {
    V b_row[kVectors];
    TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
      b_row[v] = hn::LoadU(d, b + v * S::kLanes);
    }
    TESSERA_UNROLL for (int i = 0; i < kRows; ++i) {
      const V a_element = hn::Set(d, a[i * a_row]);
      TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = hn::MulAdd(a_element, b_row[v], sums[i][v]);
      }
    }
  }

  const V alpha = hn::Set(d, call.alpha), beta = hn::Set(d, call.beta);
  const Merge merge = call.merge;
  TESSERA_UNROLL for (int i = 0; i < kRows; ++i) {
    TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
      T* at = c + i * ldc + v * S::kLanes;
      const V sum = sums[i][v];
      if (v == kVectors - 1 && last != S::kLanes) {
        const V old = is_added(merge) ? load_first(d, at, last) : hn::Zero(d);
        store_first(is_added(merge) ? merged(d, merge, alpha, sum, beta, old) : hn::Mul(alpha, sum),
                    d, at, last);
        continue;
      }
      if (merge == Merge::kStore) {
        hn::StoreU(hn::Mul(alpha, sum), d, at);
      } else if (merge == Merge::kStream) {
        hn::Stream(hn::Mul(alpha, sum), d, at);
      } else {
        hn::StoreU(merged(d, merge, alpha, sum, beta, hn::LoadU(d, at)), d, at);
      }
    }
  }
}

template <class T, bool kAdjacent, int kRows, int... kVectors>
void fill_row(TileKit<T>& kit, std::integer_sequence<int, kVectors...>) {
  ((kit.tiles[kAdjacent][kRows - 1][kVectors] = multiply_tile<T, kAdjacent, kRows, kVectors + 1>),
   ...);
}

template <class T, int... kRows>
void fill_tiles(TileKit<T>& kit, std::integer_sequence<int, kRows...>) {
  const std::make_integer_sequence<int, Tile<T>::kVectors> vectors;
  (fill_row<T, false, kRows + 1>(kit, vectors), ...);
  (fill_row<T, true, kRows + 1>(kit, vectors), ...);
}

template <class T>
TileKit<T> make_kit() {
  using S = Tile<T>;
  TileKit<T> kit{};
  kit.rows = S::kRows;
  kit.cols = S::kCols;
  kit.lanes = S::kLanes;
  fill_tiles(kit, std::make_integer_sequence<int, S::kRows>());
  kit.pack_a[0] = pack_transposed<S::kRows, T>;
  kit.pack_a[1] = pack_adjacent<S::kRows, T>;
  kit.pack_b[0] = pack_transposed<S::kCols, T>;
  kit.pack_b[1] = pack_adjacent<S::kCols, T>;
  return kit;
}

const TileKit<float>& kit_f32() {
  static const TileKit<float> kit = make_kit<float>();
  return kit;
}
const TileKit<double>& kit_f64() {
  static const TileKit<double> kit = make_kit<double>();
  return kit;
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {
HWY_EXPORT(kit_f32);
HWY_EXPORT(kit_f64);
}  // namespace

template <>
const TileKit<float>& tile_kit<float>() {
  return simd_choose(HWY_DISPATCH_TABLE(kit_f32))();
}
template <>
const TileKit<double>& tile_kit<double>() {
  return simd_choose(HWY_DISPATCH_TABLE(kit_f64))();
}

}  // namespace tessera
#endif  // HWY_ONCE
