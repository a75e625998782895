// Which strides a leading dimension can say.
#pragma once

#include <optional>

#include "array.h"

namespace tessera::python {

/// A matrix, or `batch` of them, as tessera::gemm takes it.
struct Matrix {
  char* data = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 0;
  Layout layout = Layout::kRowMajor;
  std::int64_t batch_stride = 0;  ///< elements
};

/// The last two dimensions as a matrix: its elements are contiguous along one dimension and do not
/// overlap. std::nullopt when only a copy could be multiplied: a general, negative or zero stride
/// of a dimension above 1, or an address or stride that is no multiple of the element.
std::optional<Matrix> matrix_of(const Strided& array);

/// Throws ValueError when `array` is none, for an argument that cannot be replaced by a copy.
Matrix matrix_or_raise(const char* operation, const Strided& array);

/// Rows (columns) first to first + count of x.
Matrix rows_of(const Matrix& x, std::int64_t first, std::int64_t count, std::size_t size);
Matrix cols_of(const Matrix& x, std::int64_t first, std::int64_t count, std::size_t size);

}  // namespace tessera::python
