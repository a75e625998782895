#include "verify/block_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "verify/block_product.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::verify_detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// At most 8 lanes, so that a multiple of 8 columns needs no tail on any target.
using Tag = hn::CappedTag<double, 8>;
using Vec = hn::Vec<Tag>;

// One row of the tile. The accumulators are named variables throughout, because vectors of a size
// unknown to the compiler (SVE) cannot be put in arrays.
template <int kVecs>
HWY_INLINE void add_row(double l, Vec r0, Vec r1, Vec r2, Vec& c0, Vec& c1, Vec& c2) {
  const Vec x = hn::Set(Tag(), l);
  c0 = hn::MulAdd(x, r0, c0);
  if constexpr (kVecs > 1) c1 = hn::MulAdd(x, r1, c1);
  if constexpr (kVecs > 2) c2 = hn::MulAdd(x, r2, c2);
}

template <int kVecs>
HWY_INLINE void store_row(Vec c0, Vec c1, Vec c2, double* acc) {
  const Tag d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::StoreU(hn::Add(hn::LoadU(d, acc), c0), d, acc);
  if constexpr (kVecs > 1) hn::StoreU(hn::Add(hn::LoadU(d, acc + lanes), c1), d, acc + lanes);
  if constexpr (kVecs > 2) {
    hn::StoreU(hn::Add(hn::LoadU(d, acc + 2 * lanes), c2), d, acc + 2 * lanes);
  }
}

// 4 x 3 vectors of accumulators: with 3 vectors of r and 1 of l they fill the 16 registers of AVX2,
// and 12 independent chains hide the latency of the multiply-add.
template <int kRows, int kVecs>
HWY_INLINE void add_tile(std::int64_t inner, const double* l, std::int64_t l_row,
                         std::int64_t l_inner, const double* r, std::int64_t ldr, double* acc,
                         std::int64_t ld_acc) {
  static_assert(kRows == 1 || kRows == 4);
  static_assert(1 <= kVecs && kVecs <= 3);
  const Tag d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Vec c00 = hn::Zero(d), c01 = c00, c02 = c00;
  Vec c10 = c00, c11 = c00, c12 = c00;
  Vec c20 = c00, c21 = c00, c22 = c00;
  Vec c30 = c00, c31 = c00, c32 = c00;
  for (std::int64_t p = 0; p < inner; ++p) {
    const Vec r0 = hn::LoadU(d, r);
    Vec r1 = r0, r2 = r0;
    if constexpr (kVecs > 1) r1 = hn::LoadU(d, r + lanes);
    if constexpr (kVecs > 2) r2 = hn::LoadU(d, r + 2 * lanes);
    add_row<kVecs>(l[0], r0, r1, r2, c00, c01, c02);
    if constexpr (kRows == 4) {
      add_row<kVecs>(l[l_row], r0, r1, r2, c10, c11, c12);
      add_row<kVecs>(l[2 * l_row], r0, r1, r2, c20, c21, c22);
      add_row<kVecs>(l[3 * l_row], r0, r1, r2, c30, c31, c32);
    }
    l += l_inner;
    r += ldr;
  }
  store_row<kVecs>(c00, c01, c02, acc);
  if constexpr (kRows == 4) {
    store_row<kVecs>(c10, c11, c12, acc + ld_acc);
    store_row<kVecs>(c20, c21, c22, acc + 2 * ld_acc);
    store_row<kVecs>(c30, c31, c32, acc + 3 * ld_acc);
  }
}

template <int kVecs>
HWY_INLINE void add_columns(std::int64_t rows, std::int64_t inner, const double* l,
                            std::int64_t l_row, std::int64_t l_inner, const double* r,
                            std::int64_t ldr, double* acc, std::int64_t ld_acc) {
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    add_tile<4, kVecs>(inner, l + i * l_row, l_row, l_inner, r, ldr, acc + i * ld_acc, ld_acc);
  }
  for (; i < rows; ++i) {
    add_tile<1, kVecs>(inner, l + i * l_row, l_row, l_inner, r, ldr, acc + i * ld_acc, ld_acc);
  }
}

void add_product(std::int64_t rows, std::int64_t inner, std::int64_t cols, const double* l,
                 std::int64_t l_row, std::int64_t l_inner, const double* r, std::int64_t ldr,
                 double* acc, std::int64_t ld_acc) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  std::int64_t j = 0;
  for (; j + 3 * lanes <= cols; j += 3 * lanes) {
    add_columns<3>(rows, inner, l, l_row, l_inner, r + j, ldr, acc + j, ld_acc);
  }
  for (; j + 2 * lanes <= cols; j += 2 * lanes) {
    add_columns<2>(rows, inner, l, l_row, l_inner, r + j, ldr, acc + j, ld_acc);
  }
  for (; j < cols; j += lanes) {
    add_columns<1>(rows, inner, l, l_row, l_inner, r + j, ldr, acc + j, ld_acc);
  }
}

void round_to_f32(std::int64_t rows, std::int64_t cols, double* block, std::int64_t ld) {
  const Tag d;
  const hn::Rebind<float, Tag> narrow;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Halfway from the largest float to the next power of two: what rounds to infinity. Highway's
  // scalar conversion saturates instead.
  const Vec limit = hn::Set(d, 0x1.ffffffp127), infinity = hn::Inf(d);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; j += lanes) {
      const Vec x = hn::LoadU(d, block + i * ld + j);
      const Vec rounded = hn::PromoteTo(d, hn::DemoteTo(narrow, x));
      const auto overflows = hn::Ge(hn::Abs(x), limit);
      hn::StoreU(hn::IfThenElse(overflows, hn::CopySign(infinity, x), rounded), d,
                 block + i * ld + j);
    }
  }
}

void add_row_squares(std::int64_t rows, std::int64_t cols, const double* block, std::int64_t ld,
                     double* out) {
  const Tag d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = block + i * ld;
    Vec s0 = hn::Zero(d), s1 = s0;
    std::int64_t j = 0;
    for (; j + 2 * lanes <= cols; j += 2 * lanes) {
      const Vec x0 = hn::LoadU(d, row + j), x1 = hn::LoadU(d, row + j + lanes);
      s0 = hn::MulAdd(x0, x0, s0);
      s1 = hn::MulAdd(x1, x1, s1);
    }
    for (; j < cols; j += lanes) {
      const Vec x = hn::LoadU(d, row + j);
      s0 = hn::MulAdd(x, x, s0);
    }
    out[i] += hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  }
}

void add_col_squares(std::int64_t rows, std::int64_t cols, const double* block, std::int64_t ld,
                     double* out) {
  const Tag d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = block + i * ld;
    for (std::int64_t j = 0; j < cols; j += lanes) {
      const Vec x = hn::LoadU(d, row + j);
      hn::StoreU(hn::MulAdd(x, x, hn::LoadU(d, out + j)), d, out + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::verify_detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::verify_detail {

HWY_EXPORT(add_product);
HWY_EXPORT(round_to_f32);
HWY_EXPORT(add_row_squares);
HWY_EXPORT(add_col_squares);

void add_product(std::int64_t rows, std::int64_t inner, std::int64_t cols, const double* l,
                 std::int64_t l_row, std::int64_t l_inner, const double* r, std::int64_t ldr,
                 double* acc, std::int64_t ld_acc) {
  HWY_DYNAMIC_DISPATCH(add_product)
  (rows, inner, cols, l, l_row, l_inner, r, ldr, acc, ld_acc);
}

void round_to_f32(std::int64_t rows, std::int64_t cols, double* block, std::int64_t ld) {
  HWY_DYNAMIC_DISPATCH(round_to_f32)(rows, cols, block, ld);
}

void add_row_squares(std::int64_t rows, std::int64_t cols, const double* block, std::int64_t ld,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(add_row_squares)(rows, cols, block, ld, out);
}

void add_col_squares(std::int64_t rows, std::int64_t cols, const double* block, std::int64_t ld,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(add_col_squares)(rows, cols, block, ld, out);
}

}  // namespace tessera::verify_detail
#endif  // HWY_ONCE
