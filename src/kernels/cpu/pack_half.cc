#include "kernels/cpu/pack_half.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pack_half.cc"
#include "cpu/simd_dispatch.h"
// After it: the set of targets.
#include <hwy/foreach_target.h>
// After it: this file is compiled once for each of them.
#include <hwy/highway.h>

#include "kernels/cpu/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

using std::int64_t;

/// What is left of a run once whole vectors of 2 * kLanes are done.
template <int kLanes, class In>
HWY_INLINE void widen_rest(const In* from, int64_t count, float* to) {
  if constexpr (kLanes > 0) {
    const hn::CappedTag<float, static_cast<std::size_t>(kLanes)> d;
    if (count >= kLanes) {
      hn::StoreU(load_wide(d, from), d, to);
      from += kLanes;
      to += kLanes;
      count -= kLanes;
    }
    widen_rest<kLanes / 2>(from, count, to);
  }
}

/// `count` elements that lie side by side; not one more is read or written.
template <class In>
HWY_INLINE void widen_run(const In* from, int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<float>()));
  for (; count >= kLanes; count -= kLanes, from += kLanes, to += kLanes) {
    hn::StoreU(load_wide(d, from), d, to);
  }
  widen_rest<kLanes / 2>(from, count, to);
}

/// Lines side by side in memory: a row of a panel is a run.
template <class In>
void widen_adjacent(int width, const In* x, int64_t ld, int64_t count, int64_t depth, float* out) {
  for (int64_t p = 0; p < depth; ++p) {
    const In* from = x + p * ld;
    float* to = out + p * width;
    int64_t left = count;
    for (; left >= width; left -= width, from += width, to += width * depth) {
      widen_run(from, width, to);
    }
    if (left == 0) continue;
    widen_run(from, left, to);
    std::fill(to + left, to + width, 0.0F);
  }
}

/// Lines contiguous along p: a few cache lines of each are widened into L1, from where the packing
/// function of the kit transposes them.
template <class In>
void widen_lines(PackFunction<float> transpose, int width, const In* x, int64_t ld, int64_t count,
                 int64_t depth, float* out) {
  constexpr int64_t kSpan = 64;
  constexpr int64_t kMostLines = kMaxTileRowBytes / sizeof(float);
  HWY_ALIGN float widened[kMostLines * kSpan];
  for (; count > 0; count -= width, x += width * ld, out += width * depth) {
    const int64_t lines = std::min<int64_t>(count, width);
    for (int64_t p = 0; p < depth; p += kSpan) {
      const int64_t span = std::min(kSpan, depth - p);
      for (int64_t line = 0; line < lines; ++line) {
        widen_run(x + line * ld + p, span, widened + line * kSpan);
      }
      transpose(widened, kSpan, lines, span, out + p * width);
    }
  }
}

template <class In>
HWY_INLINE void pack_widened(const PackFunction<float>* functions, int width, bool adjacent,
                             const In* x, int64_t ld, int64_t count, int64_t depth, float* out) {
  if (adjacent) {
    widen_adjacent(width, x, ld, count, depth, out);
  } else {
    widen_lines(functions[0], width, x, ld, count, depth, out);
  }
}

void pack_bf16(const PackFunction<float>* functions, int width, bool adjacent, const BFloat16* x,
               int64_t ld, int64_t count, int64_t depth, float* out) {
  pack_widened(functions, width, adjacent, x, ld, count, depth, out);
}
void pack_f16(const PackFunction<float>* functions, int width, bool adjacent, const Float16* x,
              int64_t ld, int64_t count, int64_t depth, float* out) {
  pack_widened(functions, width, adjacent, x, ld, count, depth, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {
HWY_EXPORT(pack_bf16);
HWY_EXPORT(pack_f16);
}  // namespace

void pack(const PackFunction<float> (&functions)[2], int width, bool adjacent, const BFloat16* x,
          std::int64_t ld, std::int64_t count, std::int64_t depth, float* out) {
  simd_choose(HWY_DISPATCH_TABLE(pack_bf16))(functions, width, adjacent, x, ld, count, depth, out);
}
void pack(const PackFunction<float> (&functions)[2], int width, bool adjacent, const Float16* x,
          std::int64_t ld, std::int64_t count, std::int64_t depth, float* out) {
  simd_choose(HWY_DISPATCH_TABLE(pack_f16))(functions, width, adjacent, x, ld, count, depth, out);
}

}  // namespace tessera
#endif  // HWY_ONCE
