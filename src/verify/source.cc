// Views as sources for the check.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tessera/error.h"
#include "tessera/verify.h"

namespace tessera {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "verify: " + message);
}

template <class T>
void read_rows(const MatrixView<const T>& v, std::int64_t row, std::int64_t col, std::int64_t rows,
               std::int64_t cols, double* out, std::int64_t ld_out) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* from = v.data + (row + i) * v.ld + col;
    double* to = out + i * ld_out;
    for (std::int64_t j = 0; j < cols; ++j) to[j] = static_cast<double>(from[j]);
  }
}

// A few columns at a time: each is walked with stride one and each row of the output is written a
// cache line at a time.
template <class T>
void read_columns(const MatrixView<const T>& v, std::int64_t row, std::int64_t col,
                  std::int64_t rows, std::int64_t cols, double* out, std::int64_t ld_out) {
  constexpr std::int64_t kColumns = 8;
  for (std::int64_t j0 = 0; j0 < cols; j0 += kColumns) {
    const std::int64_t count = std::min(kColumns, cols - j0);
    const T* from = v.data + (col + j0) * v.ld + row;
    double* to = out + j0;
    if (count == kColumns) {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < kColumns; ++j) {
          to[i * ld_out + j] = static_cast<double>(from[i + j * v.ld]);
        }
      }
    } else {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < count; ++j) {
          to[i * ld_out + j] = static_cast<double>(from[i + j * v.ld]);
        }
      }
    }
  }
}

template <class T>
MatrixSource make_source(const MatrixView<const T>& view) {
  if (view.space != Space::kHost) {
    refuse("a view is of device memory: the check reads host memory only");
  }
  const bool by_rows = view.layout == Layout::kRowMajor;
  const std::int64_t runs = by_rows ? view.rows : view.cols;
  const std::int64_t length = by_rows ? view.cols : view.rows;
  if (view.rows < 0 || view.cols < 0) {
    refuse(fmt::format("a view is {} x {}: sizes must be >= 0", view.rows, view.cols));
  }
  if (runs > 1 && view.ld < length) {
    refuse(fmt::format("ld = {} of a {} x {} {}-major view: must be >= {}", view.ld, view.rows,
                       view.cols, by_rows ? "row" : "column", length));
  }
  if (runs > 0 && length > 0 && view.data == nullptr) {
    refuse(fmt::format("a view of {} x {} elements is null", view.rows, view.cols));
  }
  MatrixSource source;
  source.rows = view.rows;
  source.cols = view.cols;
  source.read = [view](std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                       double* out, std::int64_t ld_out) {
    view.layout == Layout::kRowMajor ? read_rows(view, row, col, rows, cols, out, ld_out)
                                     : read_columns(view, row, col, rows, cols, out, ld_out);
  };
  return source;
}

}  // namespace

MatrixSource source_of(MatrixView<const float> view) { return make_source(view); }
MatrixSource source_of(MatrixView<const double> view) { return make_source(view); }
MatrixSource source_of(MatrixView<const BFloat16> view) { return make_source(view); }
MatrixSource source_of(MatrixView<const Float16> view) { return make_source(view); }

}  // namespace tessera
