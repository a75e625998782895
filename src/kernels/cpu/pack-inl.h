// Packing: a block of an operand copied into panels that the register tile reads straight through.
//
// A block has `count` lines of `depth` elements (rows of op(A), or columns of op(B), by p). A panel
// holds kWidth lines, p-major: element (line, p) of a panel is at out[p * kWidth + line], and
// panels follow one another, kWidth * depth elements each. Lines past `count` are zero.
#if defined(TESSERA_KERNELS_CPU_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_PACK_INL_H_
#undef TESSERA_KERNELS_CPU_PACK_INL_H_
#else
#define TESSERA_KERNELS_CPU_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes [from, to) of a vector: loads leave the others zero, and neither touches their memory.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

template <class D, class T = hn::TFromD<D>>
class Lanes {
 public:
  HWY_INLINE Lanes(D d, std::int64_t from, std::int64_t to)
      : mask_(hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(from)),
                         hn::FirstN(d, static_cast<std::size_t>(to)))) {}
  HWY_INLINE hn::Vec<D> load(D d, const T* x) const { return hn::MaskedLoad(mask_, d, x); }
  HWY_INLINE void store(hn::Vec<D> v, D d, T* x) const { hn::BlendedStore(v, mask_, d, x); }

 private:
  hn::Mask<D> mask_;
};

#else

template <class D, class T = hn::TFromD<D>>
class Lanes {
 public:
  HWY_INLINE Lanes(D, std::int64_t from, std::int64_t to)
      : from_(from), bytes_(static_cast<std::size_t>(to - from) * sizeof(T)) {}
  HWY_INLINE hn::Vec<D> load(D d, const T* x) const {
    HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
    std::memcpy(buffer + from_, x + from_, bytes_);
    return hn::Load(d, buffer);
  }
  HWY_INLINE void store(hn::Vec<D> v, D d, T* x) const {
    HWY_ALIGN T buffer[hn::MaxLanes(D())];
    hn::Store(v, d, buffer);
    std::memcpy(x + from_, buffer + from_, bytes_);
  }

 private:
  std::int64_t from_;
  std::size_t bytes_;
};

#endif

/// The first `count` of kWidth elements, and zeros.
template <int kWidth, class T>
HWY_INLINE void copy_first(const T* from, std::int64_t count, T* to) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  if constexpr (kWidth % kLanes == 0) {
    for (int line = 0; line < kWidth; line += kLanes) {
      const std::int64_t left = count - line;
      hn::StoreU(left >= kLanes ? hn::LoadU(d, from + line)
                 : left > 0     ? Lanes(d, 0, left).load(d, from + line)
                                : hn::Zero(d),
                 d, to + line);
    }
  } else {
    for (int line = 0; line < kWidth; ++line) to[line] = line < count ? from[line] : T{0};
  }
}

/// Lines side by side in memory: element (line, p) at x[p * ld + line].
template <int kWidth, class T>
void pack_adjacent(const T* x, std::int64_t ld, std::int64_t count, std::int64_t depth, T* out) {
  const std::int64_t whole = count / kWidth, rest = count % kWidth;
  for (std::int64_t p = 0; p < depth; ++p) {
    const T* from = x + p * ld;
    T* to = out + p * kWidth;
    for (std::int64_t panel = 0; panel < whole; ++panel) {
      std::memcpy(to, from, kWidth * sizeof(T));
      from += kWidth;
      to += kWidth * depth;
    }
    if (rest != 0) copy_first<kWidth>(from, rest, to);
  }
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct Transposer {
  static constexpr int kBlock = 1;
  template <int kWidth, int kLines>
  static void block(const T* x, std::int64_t, T* out) {
    out[0] = x[0];
  }
};

#else

/// The first kLines of 16 bytes' worth of lanes.
template <int kLines, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_lines(V v, D d, T* out) {
  if constexpr (kLines == static_cast<int>(16 / sizeof(T))) {
    hn::StoreU(v, d, out);
  } else {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, v), half, out);
  }
}

/// kLines lines of kBlock elements, transposed in 16-byte registers.
template <class T>
struct Transposer {
  static constexpr int kBlock = 16 / sizeof(T);
  template <int kWidth, int kLines>
  static HWY_INLINE void block(const T* x, std::int64_t ld, T* out) {
    static_assert(kLines == kBlock || 2 * kLines == kBlock);
    const hn::FixedTag<T, kBlock> d;
    const auto r0 = hn::LoadU(d, x);
    if constexpr (kBlock == 2) {
      const auto r1 = kLines == 2 ? hn::LoadU(d, x + ld) : r0;
      store_lines<kLines>(hn::InterleaveLower(d, r0, r1), d, out);
      store_lines<kLines>(hn::InterleaveUpper(d, r0, r1), d, out + kWidth);
    } else {
      const auto r1 = hn::LoadU(d, x + ld);
      const auto r2 = kLines == 4 ? hn::LoadU(d, x + 2 * ld) : r0;
      const auto r3 = kLines == 4 ? hn::LoadU(d, x + 3 * ld) : r1;
      const auto even_lower = hn::InterleaveLower(d, r0, r2);
      const auto odd_lower = hn::InterleaveLower(d, r1, r3);
      const auto even_upper = hn::InterleaveUpper(d, r0, r2);
      const auto odd_upper = hn::InterleaveUpper(d, r1, r3);
      store_lines<kLines>(hn::InterleaveLower(d, even_lower, odd_lower), d, out);
      store_lines<kLines>(hn::InterleaveUpper(d, even_lower, odd_lower), d, out + kWidth);
      store_lines<kLines>(hn::InterleaveLower(d, even_upper, odd_upper), d, out + 2 * kWidth);
      store_lines<kLines>(hn::InterleaveUpper(d, even_upper, odd_upper), d, out + 3 * kWidth);
    }
  }
};

#endif  // HWY_TARGET == HWY_SCALAR

/// One full panel of lines that are contiguous along p: element (line, p) at x[line * ld + p].
template <int kWidth, class T>
void pack_full_panel(const T* x, std::int64_t ld, std::int64_t depth, T* out) {
  constexpr int kBlock = Transposer<T>::kBlock;
  constexpr int kRest = kWidth % kBlock;
  constexpr int kSpan = 64 / sizeof(T);  // one cache line of every line of the panel at a time
  std::int64_t p = 0;
  for (std::int64_t end; p + kBlock <= depth; p = end) {
    end = std::min<std::int64_t>(p + kSpan, depth - depth % kBlock);
    for (int line = 0; line + kBlock <= kWidth; line += kBlock) {
      for (std::int64_t q = p; q < end; q += kBlock) {
        Transposer<T>::template block<kWidth, kBlock>(x + line * ld + q, ld,
                                                      out + q * kWidth + line);
      }
    }
    if constexpr (kRest != 0) {
      constexpr int kLine = kWidth - kRest;
      for (std::int64_t q = p; q < end; q += kBlock) {
        Transposer<T>::template block<kWidth, kRest>(x + kLine * ld + q, ld,
                                                     out + q * kWidth + kLine);
      }
    }
  }
  for (; p < depth; ++p) {
    for (int line = 0; line < kWidth; ++line) out[p * kWidth + line] = x[line * ld + p];
  }
}

/// The last panel, of fewer lines than kWidth.
template <int kWidth, class T>
void pack_part_panel(const T* x, std::int64_t ld, std::int64_t count, std::int64_t depth, T* out) {
  constexpr int kBlock = Transposer<T>::kBlock;
  const std::int64_t blocks = count - count % kBlock, whole = depth - depth % kBlock;
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  // Zeros from the vector on that the lines end in, where panels are whole vectors.
  constexpr int kUnit = kWidth % kLanes == 0 ? kLanes : 1;
  const std::int64_t zeros = count - count % kUnit;
  for (std::int64_t p = 0; p < depth; ++p) {
    for (std::int64_t line = zeros; line < kWidth; line += kUnit) {
      if constexpr (kUnit == 1) {
        out[p * kWidth + line] = T{0};
      } else {
        hn::StoreU(hn::Zero(d), d, out + p * kWidth + line);
      }
    }
  }
  for (std::int64_t line = 0; line < blocks; line += kBlock) {
    for (std::int64_t p = 0; p < whole; p += kBlock) {
      Transposer<T>::template block<kWidth, kBlock>(x + line * ld + p, ld, out + p * kWidth + line);
    }
  }
  for (std::int64_t line = 0; line < count; ++line) {
    for (std::int64_t p = line < blocks ? whole : 0; p < depth; ++p) {
      out[p * kWidth + line] = x[line * ld + p];
    }
  }
}

/// Lines contiguous along p, any count.
template <int kWidth, class T>
void pack_transposed(const T* x, std::int64_t ld, std::int64_t count, std::int64_t depth, T* out) {
  for (; count >= kWidth; count -= kWidth, x += kWidth * ld, out += kWidth * depth) {
    pack_full_panel<kWidth>(x, ld, depth, out);
  }
  if (count > 0) pack_part_panel<kWidth>(x, ld, count, depth, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#endif  // TESSERA_KERNELS_CPU_PACK_INL_H_
