#include "multiply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "raise.h"

namespace tessera::python {
namespace {

std::string where(const Strided& x) {
  return x.space == Space::kHost ? "host memory" : fmt::format("memory of cuda:{}", x.device);
}

std::string type_of(const Strided& x) { return x.dtype == DType::kF32 ? "float32" : "float64"; }

void check_alike(const char* operation, const Strided& x, const Strided& y) {
  if (x.dtype != y.dtype) {
    raise(PyExc_TypeError, fmt::format("{}: {} is {} and {} is {}: both must have the same dtype",
                                       operation, x.name, type_of(x), y.name, type_of(y)));
  }
  if (x.space != y.space || x.device != y.device) {
    raise(PyExc_ValueError, fmt::format("{}: {} is in {} and {} in {}: both must be in the same",
                                        operation, x.name, where(x), y.name, where(y)));
  }
}

std::int64_t size_at(const Strided& x, int from_end) { return x.shape[x.ndim - from_end]; }
std::int64_t rows_after(const Strided& x, bool trans) { return size_at(x, trans ? 1 : 2); }
std::int64_t cols_after(const Strided& x, bool trans) { return size_at(x, trans ? 2 : 1); }

std::string described(const Strided& x, bool trans) {
  return fmt::format("{} is {}{}", x.name, x.shape_text(), trans ? ", transposed" : "");
}

/// The dimensions before the last two, broadcast; throws ValueError when they do not fit.
std::vector<std::int64_t> batch_shape(const char* operation, const Strided& a, const Strided& b) {
  const int dims = std::max(a.ndim, b.ndim) - 2;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(dims), 1);
  for (int i = 0; i < dims; ++i) {
    const int from_end = dims - i + 2;
    const std::int64_t in_a = from_end <= a.ndim ? size_at(a, from_end) : 1;
    const std::int64_t in_b = from_end <= b.ndim ? size_at(b, from_end) : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      raise(PyExc_ValueError,
            fmt::format("{}: {} is {} and {} is {}: the dimensions before the last two must be "
                        "equal or 1",
                        operation, a.name, a.shape_text(), b.name, b.shape_text()));
    }
    shape[static_cast<std::size_t>(i)] = in_a == 1 ? in_b : in_a;
  }
  return shape;
}

/// A batch dimension, with each operand's stride in elements; 0 where it is broadcast.
struct Dimension {
  std::int64_t size;
  std::array<std::int64_t, 3> strides;
};

/// The batch as few dimensions as there can be: neighbours that every operand walks as one are one.
std::vector<Dimension> dimensions(const Strided& a, const Strided& b, const Strided& out) {
  const auto size = static_cast<std::int64_t>(size_of(out.dtype));
  std::vector<Dimension> merged;
  for (int i = 0; i < out.ndim - 2; ++i) {
    Dimension d{out.shape[i], {}};
    if (d.size == 1) continue;
    const Strided* operands[] = {&a, &b, &out};
    for (std::size_t x = 0; x < 3; ++x) {
      const int own = i - (out.ndim - operands[x]->ndim);
      const bool steps = own >= 0 && operands[x]->shape[own] > 1;
      d.strides[x] = steps ? operands[x]->strides[own] / size : 0;
    }
    const auto one_walk = [&](const Dimension& outer) {
      for (std::size_t x = 0; x < 3; ++x) {
        if (outer.strides[x] != d.strides[x] * d.size) return false;
      }
      return true;
    };
    if (!merged.empty() && one_walk(merged.back())) {
      merged.back() = {merged.back().size * d.size, d.strides};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

/// Calls body with the product of each position of the outer dimensions; the last is its batch.
template <class Body>
void for_each(const Product& base, const std::vector<Dimension>& dims, std::size_t at,
              const Body& body) {
  if (at == dims.size()) return body(base);
  const Dimension& d = dims[at];
  Matrix Product::*const operands[] = {&Product::a, &Product::b, &Product::c};
  Product p = base;
  if (at + 1 == dims.size()) {
    p.batch = d.size;
    for (std::size_t x = 0; x < 3; ++x) (p.*operands[x]).batch_stride = d.strides[x];
    return body(p);
  }
  const auto size = static_cast<std::int64_t>(size_of(base.dtype));
  for (std::int64_t i = 0; i < d.size; ++i) {
    for (std::size_t x = 0; x < 3; ++x) {
      (p.*operands[x]).data = (base.*operands[x]).data + i * d.strides[x] * size;
    }
    for_each(p, dims, at + 1, body);
  }
}

void check_scalar(const Request& r, const char* name, double value, DType dtype) {
  if (dtype == DType::kF64 || !std::isfinite(value)) return;
  if (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())) return;
  raise(PyExc_ValueError,
        fmt::format("{}: {} is {}: beyond the largest float32", r.operation, name, value));
}

}  // namespace

void check_pair(const Request& r, const Strided& a, const Strided& b) {
  check_alike(r.operation, a, b);
  for (const Strided* x : {&a, &b}) {
    if (x->ndim < 2) {
      raise(PyExc_ValueError,
            fmt::format("{}: {} has shape {}: a matrix, with 2 dimensions, is needed", r.operation,
                        x->name, x->shape_text()));
    }
  }
  const std::int64_t k = cols_after(a, r.trans_a), other = rows_after(b, r.trans_b);
  if (k != other) {
    raise(PyExc_ValueError,
          fmt::format("{}: {} and {}: the inner sizes {} and {} must be equal", r.operation,
                      described(a, r.trans_a), described(b, r.trans_b), k, other));
  }
}

std::vector<std::int64_t> product_shape(const Request& r, const Strided& a, const Strided& b) {
  check_pair(r, a, b);
  std::vector<std::int64_t> shape = batch_shape(r.operation, a, b);
  shape.push_back(rows_after(a, r.trans_a));
  shape.push_back(cols_after(b, r.trans_b));
  return shape;
}

void check_out(const Request& r, const Strided& a, const Strided& b, const Strided& out) {
  const std::vector<std::int64_t> shape = product_shape(r, a, b);
  check_alike(r.operation, a, out);
  if (!std::equal(shape.begin(), shape.end(), out.shape.begin(), out.shape.begin() + out.ndim)) {
    Strided wanted;
    wanted.ndim = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), wanted.shape.begin());
    raise(PyExc_ValueError, fmt::format("{}: {} and {}, but {} is {}: it must be {}", r.operation,
                                        described(a, r.trans_a), described(b, r.trans_b), out.name,
                                        out.shape_text(), wanted.shape_text()));
  }
  if (out.readonly) {
    raise(PyExc_ValueError, fmt::format("{}: {} is read-only", r.operation, out.name));
  }
  matrix_or_raise(r.operation, out);
  for (int i = 0; i < out.ndim; ++i) {
    if (out.shape[i] > 1 && out.strides[i] == 0 && !out.empty()) {
      raise(PyExc_ValueError,
            fmt::format("{}: {} has shape {} and strides of {} bytes: no two of its elements may "
                        "share memory",
                        r.operation, out.name, out.shape_text(), out.strides_text()));
    }
  }
  for (const Strided* x : {&a, &b}) {
    // Where only a copy of the input is read, the exact test would see the copy.
    if (!matrix_of(*x) && range_of(*x).meets(range_of(out))) {
      raise(PyExc_ValueError,
            fmt::format("{}: {} shares memory with {}: it must not overlap an input", r.operation,
                        out.name, x->name));
    }
  }
}

void multiply(const Request& r, const Strided& a, const Strided& b, const Strided& out,
              const Allocate& allocate, bool only_check) {
  check_pair(r, a, b);
  check_scalar(r, "alpha", r.alpha, out.dtype);
  check_scalar(r, "beta", r.beta, out.dtype);
  Product p;
  p.dtype = out.dtype;
  p.space = out.space;
  p.device = out.device;
  p.trans_a = r.trans_a;
  p.trans_b = r.trans_b;
  p.alpha = r.alpha;
  p.beta = r.beta;
  p.options = r.options;
  p.a = matrix_or_raise(r.operation, a);
  p.b = matrix_or_raise(r.operation, b);
  p.c = matrix_or_raise(r.operation, out);
  if (out.empty()) {
    p.batch = 0;
    return check(p);
  }
  const std::vector<Dimension> dims = dimensions(a, b, out);
  // A single call checks itself; of several, the first must not run before the last is checked.
  if (only_check || dims.size() > 1) for_each(p, dims, 0, check);
  if (only_check) return;
  for_each(p, dims, 0, [&](const Product& one) { run(one, allocate); });
}

}  // namespace tessera::python
