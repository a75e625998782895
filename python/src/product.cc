#include "product.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "core/canonical.h"
#include "plan_cache.h"
#include "raise.h"
#include "tessera/kernel.h"

namespace tessera::python {
namespace {

/// Between two looks at signals.
constexpr double kSliceUs = 100e3;
/// The slowest kernel takes less than kSliceUs for so many multiply-adds: nothing is to be sliced.
constexpr double kShort = 1e7;
/// Predictions can be that much too short: the first slice, whose time the others follow, is cut
/// so.
constexpr double kCaution = 8;
/// Slices are made of whole tiles.
constexpr std::int64_t kSliceStep = 64;

Op op_of(bool trans) { return trans ? Op::kT : Op::kN; }

template <class T>
MatrixView<T> view(const Matrix& x, Space space) {
  return {reinterpret_cast<T*>(x.data), x.rows, x.cols, x.ld, x.layout, space};
}

template <class T>
void call_as(const Product& p) {
  gemm_strided_batched(op_of(p.trans_a), op_of(p.trans_b), static_cast<T>(p.alpha),
                       view<const T>(p.a, p.space), p.a.batch_stride, view<const T>(p.b, p.space),
                       p.b.batch_stride, static_cast<T>(p.beta), view<T>(p.c, p.space),
                       p.c.batch_stride, p.batch, p.options);
}

void call(const Product& p) {
  if (p.dtype == DType::kF32) {
    call_as<float>(p);
  } else {
    call_as<double>(p);
  }
}

/// Slices [first, first + count) of C's rows, of its columns, or of the batch.
enum class Axis { kBatch, kRows, kCols };

Product slice(const Product& p, Axis axis, std::int64_t first, std::int64_t count) {
  const std::size_t size = size_of(p.dtype);
  Product out = p;
  if (axis == Axis::kBatch) {
    for (Matrix* x : {&out.a, &out.b, &out.c}) {
      x->data += first * x->batch_stride * static_cast<std::int64_t>(size);
    }
    out.batch = count;
  } else if (axis == Axis::kRows) {
    out.a = p.trans_a ? cols_of(p.a, first, count, size) : rows_of(p.a, first, count, size);
    out.c = rows_of(p.c, first, count, size);
  } else {
    out.b = p.trans_b ? rows_of(p.b, first, count, size) : cols_of(p.b, first, count, size);
    out.c = cols_of(p.c, first, count, size);
  }
  return out;
}

std::int64_t length_of(const Product& p, Axis axis) {
  return axis == Axis::kBatch ? p.batch : axis == Axis::kRows ? p.c.rows : p.c.cols;
}

double multiply_adds(const Product& p) {
  const std::int64_t k = p.trans_a ? p.a.rows : p.a.cols;
  return static_cast<double>(p.c.rows) * static_cast<double>(p.c.cols) * static_cast<double>(k) *
         static_cast<double>(p.batch);
}

/// How long one is predicted to take, and after the first slice how long one took.
struct Pace {
  double us_per_multiply_add;
  double slices_of(const Product& p) const {
    return multiply_adds(p) * us_per_multiply_add / kSliceUs;
  }
};

/// Of an axis that is to be cut into this many slices.
std::int64_t slice_length(const Product& p, Axis axis, double slices, bool last) {
  const auto wanted =
      static_cast<std::int64_t>(static_cast<double>(length_of(p, axis)) / std::max(slices, 1.0));
  if (axis == Axis::kBatch || (last && wanted < kSliceStep)) {
    return std::max<std::int64_t>(wanted, 1);
  }
  return std::max(wanted / kSliceStep, std::int64_t{1}) * kSliceStep;
}

/// Cuts the first of the axes, and what is still too long along the others.
void run_in_slices(const Product& p, Pace& pace, const Axis* axis, const Axis* end) {
  if (pace.slices_of(p) <= 1 || axis == end) {
    const auto start = std::chrono::steady_clock::now();
    call(p);
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    pace.us_per_multiply_add = taken.count() / multiply_adds(p);
    return check_signals();
  }
  for (std::int64_t first = 0, length = length_of(p, *axis); first < length;) {
    const std::int64_t step = slice_length(p, *axis, pace.slices_of(p), axis + 1 == end);
    const std::int64_t count = std::min(step, length - first);
    run_in_slices(slice(p, *axis, first, count), pace, axis + 1, end);
    first += count;
  }
}

void run_on_host(const Product& p) {
  if (multiply_adds(p) < kShort) return call(p);
  const GemmDesc desc = describe(p);
  const Plan plan(desc, p.options);
  const Kernel& kernel = registry().choose(plan.problem(), cpu_device(), p.options.kernel);
  Pace pace{kernel.estimate_us(plan.problem(), cpu_device()) / multiply_adds(p)};
  if (pace.slices_of(p) <= 1) return call(p);
  refuse_aliases(desc, p.a.data, p.b.data, p.c.data);  // of the whole, before a slice is written
  Product fixed = p;
  fixed.options.kernel = plan.kernel();
  pace.us_per_multiply_add *= kCaution;
  const bool tall = p.c.rows >= p.c.cols;
  const Axis axes[] = {Axis::kBatch, tall ? Axis::kRows : Axis::kCols,
                       tall ? Axis::kCols : Axis::kRows};
  run_in_slices(fixed, pace, p.batch > 1 ? axes : axes + 1, axes + 3);
}

}  // namespace

void check(const Product& p) {
  const GemmDesc desc = describe(p);
  const Plan plan(desc, p.options);
  if (p.alpha != 0 && p.batch > 0 && p.a.rows > 0 && p.a.cols > 0) {
    refuse_aliases(desc, p.a.data, p.b.data, p.c.data);
  }
}

void run(const Product& p, const Allocate& allocate) {
  if (p.space == Space::kHost) {
    const nb::gil_scoped_release no_gil;
    return run_on_host(p);
  }
  if (!allocate) {
    const nb::gil_scoped_release no_gil;
    return call(p);
  }
  const std::shared_ptr<const Plan> plan = cached_plan(p);
  const std::size_t bytes = plan->workspace_bytes();
  void* workspace = bytes > 0 ? allocate(bytes) : nullptr;
  const nb::gil_scoped_release no_gil;
  plan->run(p.alpha, p.a.data, p.b.data, p.beta, p.c.data, workspace, bytes, p.options.stream);
}

}  // namespace tessera::python
