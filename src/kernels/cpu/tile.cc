#include "kernels/cpu/tile.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
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
/// of A in registers too), else 16. With AVX-512 14 x 2 asks L2 for 2 lines of B in 14 cycles, 8 x
/// 3 for 3 in 12; its columns also divide the sizes that are common. From L1 or L2 in place, 6 x 4
/// is better still: fewer rows of A are read side by side, and each element of it is used 4 times.
template <class T>
struct Tile {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr bool kWide = kLanes * sizeof(T) == 64;
  static constexpr int kRegisters = kWide || HWY_ARCH_ARM ? 32 : 16;
  /// Of the tile for packed operands.
  static constexpr int kVectors = HWY_ARCH_ARM ? 3 : 2;
  static constexpr int kRows = kWide ? 14 : 6;
  static constexpr int kCols = kLanes * kVectors;
  static constexpr int kWidest = kWide ? 4 : kVectors;
  static constexpr int most_rows(int vectors) {
    return vectors <= kVectors ? kRows : vectors == 3 ? 9 : 6;
  }
  static_assert(kRows <= kMaxTileRows && kWidest <= kMaxTileVectors);
  static_assert(kCols * sizeof(T) <= kMaxTileRowBytes);
  static_assert(kWidest * kLanes * sizeof(T) <= kMaxWideRowBytes);
};

/// C = merge(sum), where what is only stored has met alpha already. The same operations for every
/// element, wherever it lies in a tile.
template <Merge kMerge, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_whole(D d, V alpha, V sum, V beta, T* c) {
  if constexpr (kMerge == Merge::kStore) {
    hn::StoreU(sum, d, c);
  } else if constexpr (kMerge == Merge::kStream) {
    hn::Stream(sum, d, c);
  } else if constexpr (kMerge == Merge::kAdd) {
    hn::StoreU(hn::MulAdd(alpha, sum, hn::LoadU(d, c)), d, c);
  } else {
    hn::StoreU(hn::MulAdd(beta, hn::LoadU(d, c), hn::Mul(alpha, sum)), d, c);
  }
}

/// The same for some of the lanes.
template <Merge kMerge, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_part(D d, V alpha, V sum, V beta, const Lanes<D>& lanes, T* c) {
  if constexpr (kMerge == Merge::kStore || kMerge == Merge::kStream) {
    lanes.store(sum, d, c);
  } else if constexpr (kMerge == Merge::kAdd) {
    lanes.store(hn::MulAdd(alpha, sum, lanes.load(d, c)), d, c);
  } else {
    lanes.store(hn::MulAdd(beta, lanes.load(d, c), hn::Mul(alpha, sum)), d, c);
  }
}

template <Merge kMerge, int kRows, int kVectors, class T, class V = typename Tile<T>::V>
HWY_INLINE void store_tile(const TileCall<T>& call, V (&sums)[kRows][kVectors]) {
  using S = Tile<T>;
  const typename S::D d;
  const V alpha = hn::Set(d, call.alpha), beta = hn::Set(d, call.beta);
  if ((kMerge == Merge::kStore || kMerge == Merge::kStream) && call.alpha != T{1}) {
    TESSERA_UNROLL for (int i = 0; i < kRows; ++i) {
      TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Mul(alpha, sums[i][v]);
    }
  }
  constexpr std::int64_t kLast = (kVectors - 1) * S::kLanes;
  T* c = call.c;
  if (call.skip == 0 && call.cols == kLast + S::kLanes) {
    TESSERA_UNROLL for (int i = 0; i < kRows; ++i, c += call.ldc) {
      TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
        store_whole<kMerge>(d, alpha, sums[i][v], beta, c + v * S::kLanes);
      }
    }
    return;
  }
  const Lanes<typename S::D> first(d, call.skip, kVectors > 1 ? S::kLanes : call.cols);
  const Lanes<typename S::D> last(d, 0, call.cols - kLast);
  TESSERA_UNROLL for (int i = 0; i < kRows; ++i, c += call.ldc) {
    store_part<kMerge>(d, alpha, sums[i][0], beta, first, c);
    TESSERA_UNROLL for (int v = 1; v < kVectors - 1; ++v) {
      store_whole<kMerge>(d, alpha, sums[i][v], beta, c + v * S::kLanes);
    }
    if constexpr (kVectors > 1) {
      store_part<kMerge>(d, alpha, sums[i][kVectors - 1], beta, last, c + kLast);
    }
  }
}

template <int kCount>
using Steps = std::integral_constant<int, kCount>;

template <class T, bool kAdjacent, int kRows, int kVectors, bool kPacks = false>
HWY_NOINLINE void multiply_tile(TileCall<T>& given) {
  using S = Tile<T>;
  using V = typename S::V;
  const typename S::D d;
  // Rows apart are reached from one pointer for every three, by what an address can hold: there are
  // too few registers for one each.
  constexpr int kGroup = kAdjacent ? kRows : 3;
  constexpr int kGroups = (kRows + kGroup - 1) / kGroup;
  // The tiles that most multiply-adds go through take four steps at once: a core that another
  // thread shares has no instructions to spare for counting.
  constexpr int kSteps = 2 * kRows * kVectors >= S::kRegisters ? 4 : 1;

  for (int tiles_left = given.count;;) {
    // What a call says is read anew for each tile: kept for the next one it would take registers.
    TileCall<T>* hidden = &given;
    asm("" : "+r"(hidden));
    TileCall<T>& call = *hidden;
    const std::int64_t a_row = kAdjacent ? 1 : call.a_row;
    [[maybe_unused]] const std::int64_t a_step = call.a_step;
    const std::int64_t b_step = call.b_step;
    V sums[kRows][kVectors];
    TESSERA_UNROLL for (int i = 0; i < kRows; ++i) {
      TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
    }
    const T* a[kGroups];
    TESSERA_UNROLL for (int g = 0; g < kGroups; ++g) { a[g] = call.a + g * kGroup * a_row; }
    const T* HWY_RESTRICT b = call.b;
    [[maybe_unused]] T* HWY_RESTRICT packed = call.packed;
    // One step of depth, `ahead` of where A's pointers are.
    const auto multiply_step = [&](V last_b, int ahead) HWY_ATTR __attribute__((always_inline)) {
      V b_row[kVectors];
      TESSERA_UNROLL for (int v = 0; v < kVectors - 1; ++v) {
        b_row[v] = hn::LoadU(d, b + v * S::kLanes);
      }
      b_row[kVectors - 1] = last_b;
      if constexpr (kPacks) {
        // No processor follows rows that lie pages apart by itself.
        constexpr int kRowsAhead = 16;
        TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
          __builtin_prefetch(b + kRowsAhead * b_step + v * S::kLanes, 0, 2);
          hn::StoreU(b_row[v], d, packed + v * S::kLanes);
        }
        packed += kVectors * S::kLanes;
      }
      b += b_step;
      TESSERA_UNROLL for (int i = 0; i < kRows; ++i) {
        const V a_element = hn::Set(d, a[i / kGroup][i % kGroup * a_row + (kAdjacent ? 0 : ahead)]);
        TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) {
          sums[i][v] = hn::MulAdd(a_element, b_row[v], sums[i][v]);
        }
      }
      if constexpr (kAdjacent) a[0] += a_step;
    };
    const auto multiply_steps = [&](auto steps) HWY_ATTR __attribute__((always_inline)) {
      constexpr int kCount = decltype(steps)::value;
      // Not TESSERA_UNROLL: GCC unrolls it all the same, later, and then needs fewer registers.
      for (int step = 0; step < kCount; ++step) {
        multiply_step(hn::LoadU(d, b + (kVectors - 1) * S::kLanes), step);
      }
      if constexpr (!kAdjacent) {
        TESSERA_UNROLL for (int g = 0; g < kGroups; ++g) a[g] += kCount;
      }
    };

    // A row of C at a time is fetched, so that its lines, which may come from memory, do not take
    // all the slots that the lines of A and B need; then what a later call reads. No step asks
    // whether there is something left to fetch: branches that come out differently cost more than
    // fetches.
    const std::int64_t whole = call.exact_b ? 0 : call.depth;
    std::int64_t left = whole / kSteps;
    std::int64_t fetching = call.fetches_c ? std::min<std::int64_t>(kRows, left) : 0;
    left -= fetching;
    for (const T* row = call.c; fetching > 0; --fetching, row += call.ldc) {
      TESSERA_UNROLL for (int v = 0; v < kVectors; ++v) hwy::Prefetch(row + v * S::kLanes);
      multiply_steps(Steps<kSteps>());
    }
    const char* ahead = reinterpret_cast<const char*>(call.ahead == nullptr ? call.b : call.ahead);
    const std::int64_t also = call.ahead_also * static_cast<std::int64_t>(sizeof(T));
    for (; left > 0; --left) {
      __builtin_prefetch(ahead, 0, 2);
      __builtin_prefetch(ahead + also, 0, 2);
      ahead += kSteps * call.ahead_bytes;
      multiply_steps(Steps<kSteps>());
    }
    if constexpr (kSteps == 4) {
      if ((whole & 2) != 0) multiply_steps(Steps<2>());
      if ((whole & 1) != 0) multiply_steps(Steps<1>());
    }
    if (call.exact_b) {
      // Masks take a unit that multiplies.
      constexpr std::int64_t kLast = (kVectors - 1) * S::kLanes;
      const Lanes<typename S::D> lanes(d, 0, call.cols - kLast);
      for (left = call.depth; left > 0; --left) {
        multiply_step(lanes.load(d, b + kLast), 0);
        if constexpr (!kAdjacent) {
          TESSERA_UNROLL for (int g = 0; g < kGroups; ++g)++ a[g];
        }
      }
    }

    switch (call.merge) {
      case Merge::kStore:
        store_tile<Merge::kStore>(call, sums);
        break;
      case Merge::kStream:
        store_tile<Merge::kStream>(call, sums);
        break;
      case Merge::kScale:
        store_tile<Merge::kScale>(call, sums);
        break;
      case Merge::kAdd:
        store_tile<Merge::kAdd>(call, sums);
        break;
    }
    if (--tiles_left == 0) return;
    call.a += call.a_next;
    call.b += call.b_next;
    call.c += call.c_next;
    if (call.ahead != nullptr) call.ahead += call.ahead_next;
    if constexpr (kPacks) call.packed += call.packed_next;
  }
}

template <class T, int kVectors, int... kRows>
void fill_tiles(TileKit<T>& kit, std::integer_sequence<int, kRows...>) {
  constexpr int kMostRows = Tile<T>::most_rows(kVectors);
  kit.most_rows[kVectors - 1] = kMostRows;
  constexpr int kBeside = Tile<T>::most_rows(std::min(kVectors + 1, Tile<T>::kWidest));
  kit.pack_vectors[kVectors - 1][0] = pack_transposed<kVectors * Tile<T>::kLanes, T>;
  kit.pack_vectors[kVectors - 1][1] = pack_adjacent<kVectors * Tile<T>::kLanes, T>;
  kit.packing_tiles[kMostRows - 1][kVectors - 1] =
      multiply_tile<T, false, kMostRows, kVectors, true>;
  kit.packing_tiles[kBeside - 1][kVectors - 1] = multiply_tile<T, false, kBeside, kVectors, true>;
  ((kit.tiles[false][kRows][kVectors - 1] = multiply_tile<T, false, kRows + 1, kVectors>), ...);
  ((kit.tiles[true][kRows][kVectors - 1] = multiply_tile<T, true, kRows + 1, kVectors>), ...);
}

template <class T, int... kVectors>
void fill_widths(TileKit<T>& kit, std::integer_sequence<int, kVectors...>) {
  (fill_tiles<T, kVectors + 1>(kit,
                               std::make_integer_sequence<int, Tile<T>::most_rows(kVectors + 1)>()),
   ...);
}

template <class T>
TileKit<T> make_kit() {
  using S = Tile<T>;
  TileKit<T> kit{};
  kit.rows = S::kRows;
  kit.cols = S::kCols;
  kit.lanes = S::kLanes;
  kit.widest = S::kWidest;
  fill_widths(kit, std::make_integer_sequence<int, S::kWidest>());
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
