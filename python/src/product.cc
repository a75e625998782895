#include "product.h"

#include <algorithm>
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

void run_on_host(const Product& p) {
  const std::int64_t m = p.c.rows, n = p.c.cols, k = p.trans_a ? p.a.rows : p.a.cols;
  if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
          static_cast<double>(p.batch) <
      kShort) {
    return call(p);
  }
  const GemmDesc desc = describe(p);
  const Plan plan(desc, p.options);
  refuse_aliases(desc, p.a.data, p.b.data, p.c.data);  // of the whole, before a slice is written
  const Kernel& kernel = registry().choose(plan.problem(), cpu_device(), p.options.kernel);
  const double slices = kernel.estimate_us(plan.problem(), cpu_device()) / kSliceUs;
  const Axis axis = p.batch > 1 ? Axis::kBatch : m >= n ? Axis::kRows : Axis::kCols;
  const std::int64_t length = axis == Axis::kBatch ? p.batch : axis == Axis::kRows ? m : n;
  const std::int64_t unit = axis == Axis::kBatch ? 1 : kSliceStep;
  const auto wanted =
      static_cast<std::int64_t>(static_cast<double>(length) / std::max(slices, 1.0));
  const std::int64_t step = std::max<std::int64_t>(unit, wanted / unit * unit);
  if (step >= length) return call(p);
  Product fixed = p;
  fixed.options.kernel = plan.kernel();
  for (std::int64_t first = 0; first < length; first += step) {
    call(slice(fixed, axis, first, std::min(step, length - first)));
    check_signals();
  }
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
