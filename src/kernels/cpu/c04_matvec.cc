// c04_matvec: a matrix times a vector, made for m = 1 or n = 1.
//
// Idea: every element of the matrix is used once, so the time is that of reading it. Two forms, by
// how the matrix lies: rows along the sum are dot products, a few rows at once so that several
// streams of memory are under way; rows along the result are added up a few at a time, on a piece
// of the result that stays in L1. The other vector is copied where it does not lie in a row.
// Elements of 16 bits are widened as they are loaded.
// Since c02: no packing, which would write and read the matrix once more.
// Expected bottleneck: memory, or the cache that holds the matrix.
// Limits: none, but a larger C is done row by row. The bits of C do not depend on the number of
// threads nor on the position of an element in C.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/int_math.h"
#include "core/threads.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/regime.h"
#include "tessera/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/c04_matvec.cc"
#include "cpu/simd_dispatch.h"
// After it: the set of targets.
#include <hwy/foreach_target.h>
// After it: this file is compiled once for each of them.
#include <hwy/highway.h>

#include "kernels/cpu/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using std::int64_t;

constexpr int64_t kDepth = 2048;  // elements of x at a time: they stay in L1
// Bytes of y at a time: sums of them stay in L1, and longer runs along a row of the matrix are
// fetched better.
constexpr int64_t kPieceBytes = 32 << 10;

/// y = matrix x: y(i) at y[i * y_step], x(p) at x[p * x_step].
template <class In, class T>
struct Call {
  const In* matrix;
  int64_t ld;
  const In* x;
  int64_t x_step;
  T* y;
  int64_t y_step;
  int64_t count, k;  // of y, of x
  T alpha, beta;
};

/// y = alpha sum + beta y in the first block of depth, y += alpha sum in later ones.
template <class In, class T>
HWY_INLINE void merge(const Call<In, T>& call, int64_t i, bool first, T sum) {
  const hn::CappedTag<T, 1> one;
  T* const y = call.y + i * call.y_step;
  const auto alpha = hn::Set(one, call.alpha), v = hn::Set(one, sum);
  if (!first) {
    hn::Store(hn::MulAdd(alpha, v, hn::Load(one, y)), one, y);
  } else if (call.beta == T{0}) {
    hn::Store(hn::Mul(alpha, v), one, y);
  } else {
    hn::Store(hn::MulAdd(hn::Set(one, call.beta), hn::Load(one, y), hn::Mul(alpha, v)), one, y);
  }
}

/// The same for a piece of y, with no sums there yet.
template <class In, class T>
HWY_INLINE void merge_many(const Call<In, T>& call, int64_t first, int64_t count, const T* sums) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  int64_t i = 0;
  if (call.y_step == 1) {
    const auto alpha = hn::Set(d, call.alpha), beta = hn::Set(d, call.beta);
    for (; i + kLanes <= count; i += kLanes) {
      T* const y = call.y + first + i;
      const auto sum = hn::Mul(alpha, hn::Load(d, sums + i));
      hn::StoreU(call.beta == T{0} ? sum : hn::MulAdd(beta, hn::LoadU(d, y), sum), d, y);
    }
  }
  for (; i < count; ++i) merge(call, first + i, true, sums[i]);
}

/// kRows dot products. Each has the same chains whatever kRows is.
template <class T, int kRows, class In>
HWY_INLINE void dot(const In* rows, int64_t ld, const T* x, int64_t depth, T* sums) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  hn::Vec<decltype(d)> even[kRows], odd[kRows];
  TESSERA_UNROLL for (int r = 0; r < kRows; ++r) even[r] = odd[r] = hn::Zero(d);
  int64_t p = 0;
  for (; p + 2 * kLanes <= depth; p += 2 * kLanes) {
    const auto x0 = hn::LoadU(d, x + p), x1 = hn::LoadU(d, x + p + kLanes);
    TESSERA_UNROLL for (int r = 0; r < kRows; ++r) {
      even[r] = hn::MulAdd(load_wide(d, rows + r * ld + p), x0, even[r]);
      odd[r] = hn::MulAdd(load_wide(d, rows + r * ld + p + kLanes), x1, odd[r]);
    }
  }
  for (; p + kLanes <= depth; p += kLanes) {
    const auto x0 = hn::LoadU(d, x + p);
    TESSERA_UNROLL for (int r = 0; r < kRows; ++r) {
      even[r] = hn::MulAdd(load_wide(d, rows + r * ld + p), x0, even[r]);
    }
  }
  TESSERA_UNROLL for (int r = 0; r < kRows; ++r) {
    auto sum = hn::Set(one, hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r]))));
    for (int64_t q = p; q < depth; ++q) {
      sum = hn::MulAdd(hn::Set(one, widen_one(rows[r * ld + q])), hn::Load(one, x + q), sum);
    }
    sums[r] = hn::GetLane(sum);
  }
}

/// Rows of the matrix lie along the sum.
template <class In, class T>
void multiply_along_sum(const Call<In, T>& call, int64_t i0, int64_t i1) {
  constexpr int kRows = 8;
  HWY_ALIGN T copied[kDepth];
  T sums[kRows];
  for (int64_t q = 0; q < call.k; q += kDepth) {
    const int64_t depth = std::min(kDepth, call.k - q);
    const In* const from = call.x + q * call.x_step;
    const T* x = copied;
    if constexpr (std::is_same_v<In, T>) {
      if (call.x_step == 1) x = from;
    }
    for (int64_t p = 0; x == copied && p < depth; ++p) copied[p] = widen_one(from[p * call.x_step]);
    int64_t i = i0;
    for (; i + kRows <= i1; i += kRows) {
      dot<T, kRows>(call.matrix + i * call.ld + q, call.ld, x, depth, sums);
      for (int r = 0; r < kRows; ++r) merge(call, i + r, q == 0, sums[r]);
    }
    for (; i < i1; ++i) {
      dot<T, 1>(call.matrix + i * call.ld + q, call.ld, x, depth, sums);
      merge(call, i, q == 0, sums[0]);
    }
  }
}

/// sums += kSteps rows of the matrix, each times its element of x.
template <class T, int kSteps, class In>
HWY_INLINE void add_rows(const In* rows, int64_t ld, const In* x, int64_t x_step, int64_t width,
                         T* sums) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  hn::Vec<decltype(d)> elements[kSteps];
  TESSERA_UNROLL for (int s = 0; s < kSteps; ++s) elements[s] =
      hn::Set(d, widen_one(x[s * x_step]));
  int64_t j = 0;
  for (; j + kLanes <= width; j += kLanes) {
    auto sum = hn::Load(d, sums + j);
    TESSERA_UNROLL for (int s = 0; s < kSteps; ++s) {
      sum = hn::MulAdd(elements[s], load_wide(d, rows + s * ld + j), sum);
    }
    hn::Store(sum, d, sums + j);
  }
  for (; j < width; ++j) {
    auto sum = hn::Load(one, sums + j);
    for (int s = 0; s < kSteps; ++s) {
      sum = hn::MulAdd(hn::Set(one, widen_one(x[s * x_step])),
                       hn::Set(one, widen_one(rows[s * ld + j])), sum);
    }
    hn::Store(sum, one, sums + j);
  }
}

/// Rows of the matrix lie along the result.
template <class In, class T>
void multiply_along_result(const Call<In, T>& call, int64_t j0, int64_t j1) {
  constexpr int kSteps = 8;
  constexpr int64_t kPiece = kPieceBytes / int64_t{sizeof(T)};
  HWY_ALIGN T sums[kPiece];
  for (int64_t j = j0; j < j1; j += kPiece) {
    const int64_t width = std::min(kPiece, j1 - j);
    std::fill(sums, sums + width, T{0});
    int64_t p = 0;
    for (; p + kSteps <= call.k; p += kSteps) {
      add_rows<T, kSteps>(call.matrix + p * call.ld + j, call.ld, call.x + p * call.x_step,
                          call.x_step, width, sums);
    }
    for (; p < call.k; ++p) {
      add_rows<T, 1>(call.matrix + p * call.ld + j, call.ld, call.x + p * call.x_step, call.x_step,
                     width, sums);
    }
    merge_many(call, j, width, sums);
  }
}

template <class In, class T>
void multiply(const Problem& p, const Operands& o, const LaunchContext& context) {
  const bool is_row = p.n != 1;  // C is a row, or many: the matrix is B, the vectors are A's rows
  const bool along_sum = is_row ? p.trans_b : !p.trans_a;
  const int64_t count = is_row ? p.n : p.m;
  const int threads = useful_threads(p, context.threads);
  // Whole cache lines for each, and a little more work than threads, which do not start alike.
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t pieces = std::min<int64_t>(threads == 1 ? 1 : 2 * threads, ceil_div(count, kLine));
  const int64_t length = round_up(ceil_div(count, pieces), kLine);
  const int64_t tasks = ceil_div(count, length);

  const auto multiply_task = [&](int64_t task, int) {
    const int64_t matrix = task / tasks, piece = task % tasks;
    const In* const a = static_cast<const In*>(o.a) + matrix * p.stride_a;
    const In* const b = static_cast<const In*>(o.b) + matrix * p.stride_b;
    T* const c = static_cast<T*>(o.c) + matrix * p.stride_c;
    const auto alpha = static_cast<T>(o.alpha), beta = static_cast<T>(o.beta);
    const int64_t a_step = p.trans_a ? p.lda : 1, b_step = p.trans_b ? 1 : p.ldb;
    Call<In, T> call = is_row ? Call<In, T>{b, p.ldb, a, a_step, c, 1, p.n, p.k, alpha, beta}
                              : Call<In, T>{a, p.lda, b, b_step, c, p.ldc, p.m, p.k, alpha, beta};
    const int64_t begin = piece * length, end = std::min(begin + length, count);
    for (int64_t row = 0; row < (is_row ? p.m : 1); ++row) {
      along_sum ? multiply_along_sum(call, begin, end) : multiply_along_result(call, begin, end);
      call.x += p.trans_a ? 1 : p.lda;
      call.y += p.ldc;
    }
  };
  parallel_for(threads, tasks * p.batch, std::cref(multiply_task));
}

void multiply_elements(const Problem& p, const Operands& o, const LaunchContext& context) {
  with_elements(p.input_dtype(), [&]<class In, class T>() { multiply<In, T>(p, o, context); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {

HWY_EXPORT(multiply_elements);

void launch(const Problem& p, const Operands& o, const LaunchContext& context) {
  simd_choose(HWY_DISPATCH_TABLE(multiply_elements))(p, o, context);
}

}  // namespace

void register_c04_matvec(Registry& registry);
void register_c04_matvec(Registry& registry) {
  for (DType dtype : kCpuInputs) {
    Kernel kernel;
    kernel.id = {"cpu", "matvec", dtype, ""};
    kernel.stem = "c04_matvec";
    kernel.why = "a vector uses each element of the matrix once: reading is all there is";
    kernel.summary = "a matrix times a vector at the speed of memory, in place, SIMD, threads";
    kernel.arch = "any CPU; AVX2, AVX-512 or NEON where present";
    kernel.limits = "none; made for m = 1 or n = 1";
    kernel.is_rung = false;
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
      return estimate_us(Regime::kMatvec, p, device);
    };
    kernel.launch = launch;
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
