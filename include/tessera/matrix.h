// A matrix somebody else owns: pointer, shape, leading dimension, layout, memory space.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tessera {

/// Which index is contiguous in memory.
enum class Layout : std::uint8_t {
  kRowMajor,  ///< element (i, j) at data[i * ld + j], ld >= cols
  kColMajor,  ///< element (i, j) at data[i + j * ld], ld >= rows
};

/// op(X) of the BLAS: X or its transpose.
enum class Op : std::uint8_t { kN, kT };

/// Where the elements live. kCuda is device memory of one GPU (cudaMalloc or managed memory).
enum class Space : std::uint8_t { kHost, kCuda };

/// A view of a rows x cols matrix with leading dimension ld, in elements.
///
/// It owns nothing and may point anywhere inside a larger matrix; the elements between the end of
/// a row (column) and ld are never read or written. A matrix whose ld is never used to step, that
/// is with one row (row-major) or one column (column-major), may have any ld. With rows or cols 0,
/// data may be null.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  Layout layout = Layout::kRowMajor;
  Space space = Space::kHost;

  MatrixView() = default;
  MatrixView(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t ld_,
             Layout layout_ = Layout::kRowMajor, Space space_ = Space::kHost)
      : data(data_), rows(rows_), cols(cols_), ld(ld_), layout(layout_), space(space_) {}

  /// A view of mutable elements is a view of constant ones.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
  MatrixView(const MatrixView<U>& other)  // NOLINT: implicit by design, like T* to const T*
      : data(other.data),
        rows(other.rows),
        cols(other.cols),
        ld(other.ld),
        layout(other.layout),
        space(other.space) {}
};

/// A densely packed row-major view (ld = cols, at least 1).
template <class T>
MatrixView<T> row_major(T* data, std::int64_t rows, std::int64_t cols, Space space = Space::kHost) {
  return {data, rows, cols, cols > 0 ? cols : 1, Layout::kRowMajor, space};
}

/// A densely packed column-major view (ld = rows, at least 1).
template <class T>
MatrixView<T> col_major(T* data, std::int64_t rows, std::int64_t cols, Space space = Space::kHost) {
  return {data, rows, cols, rows > 0 ? rows : 1, Layout::kColMajor, space};
}

}  // namespace tessera
