#include "layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "raise.h"

namespace tessera::python {

std::optional<Matrix> matrix_of(const Strided& array) {
  const auto size = static_cast<std::int64_t>(size_of(array.dtype));
  const std::int64_t rows = array.shape[array.ndim - 2], cols = array.shape[array.ndim - 1];
  Matrix out{array.data, rows, cols, std::max<std::int64_t>(cols, 1), Layout::kRowMajor, 0};
  if (array.empty()) return out;
  if (reinterpret_cast<std::uintptr_t>(array.data) % static_cast<std::uintptr_t>(size) != 0) {
    return std::nullopt;
  }
  for (int i = 0; i < array.ndim; ++i) {
    if (array.shape[i] > 1 && array.strides[i] % size != 0) return std::nullopt;
  }
  // The stride of a dimension of size 1 is never used, and may be anything.
  const std::int64_t down = array.strides[array.ndim - 2] / size;
  const std::int64_t along = array.strides[array.ndim - 1] / size;
  if ((cols == 1 || along == 1) && (rows == 1 || down >= cols)) {
    out.ld = rows == 1 ? cols : down;
    return out;
  }
  if ((rows == 1 || down == 1) && (cols == 1 || along >= rows)) {
    out.layout = Layout::kColMajor;
    out.ld = cols == 1 ? rows : along;
    return out;
  }
  return std::nullopt;
}

Matrix matrix_or_raise(const char* operation, const Strided& array) {
  if (const auto matrix = matrix_of(array)) return *matrix;
  raise(PyExc_ValueError,
        fmt::format("{}: {} has shape {} and strides of {} bytes: rows or columns must be "
                    "contiguous and must not overlap",
                    operation, array.name, array.shape_text(), array.strides_text()));
}

namespace {

Matrix advanced(Matrix x, std::int64_t elements, std::size_t size) {
  x.data += elements * static_cast<std::int64_t>(size);
  return x;
}

}  // namespace

Matrix rows_of(const Matrix& x, std::int64_t first, std::int64_t count, std::size_t size) {
  Matrix out = advanced(x, x.layout == Layout::kRowMajor ? first * x.ld : first, size);
  out.rows = count;
  return out;
}

Matrix cols_of(const Matrix& x, std::int64_t first, std::int64_t count, std::size_t size) {
  Matrix out = advanced(x, x.layout == Layout::kRowMajor ? first : first * x.ld, size);
  out.cols = count;
  return out;
}

}  // namespace tessera::python
