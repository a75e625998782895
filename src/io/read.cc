// Blocks of a mapped matrix as float or double.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "io/convert.h"
#include "io/mapped_file.h"
#include "io/tensor.h"
#include "tessera/half.h"

namespace tessera::io {
namespace {

void check_range(const FileMatrix& m, const char* what, std::int64_t first, std::int64_t count,
                 std::int64_t size) {
  if (first < 0 || count < 0 || first > size || count > size - first) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("read: {} {} + {} of {} lie outside its {} x {}", what, first, count,
                            m.name, m.rows, m.cols));
  }
}

/// Reads a block of a column-major matrix into row-major order. Whole column pieces are widened
/// into a tile that stays in the L1 cache and transposed from there, so that neither side is walked
/// with a long stride element by element.
template <class T>
void read_columns(const FileMatrix& m, std::int64_t row, std::int64_t col, std::int64_t rows,
                  std::int64_t cols, T* out, std::int64_t ld_out) {
  constexpr std::int64_t kTile = 32;
  std::array<T, kTile * kTile> tile;
  const auto size = static_cast<std::int64_t>(size_of(m.dtype));
  for (std::int64_t i0 = 0; i0 < rows; i0 += kTile) {
    const std::int64_t height = std::min(kTile, rows - i0);
    for (std::int64_t j0 = 0; j0 < cols; j0 += kTile) {
      const std::int64_t width = std::min(kTile, cols - j0);
      for (std::int64_t j = 0; j < width; ++j) {
        widen(m.dtype, m.big_endian, m.data + ((col + j0 + j) * m.rows + row + i0) * size, height,
              tile.data() + j * kTile);
      }
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          out[(i0 + i) * ld_out + j0 + j] = tile[static_cast<std::size_t>(j * kTile + i)];
        }
      }
    }
  }
}

}  // namespace

std::size_t FileMatrix::bytes() const {
  return rows == 0 || cols == 0 ? 0 : static_cast<std::size_t>(rows * cols) * size_of(dtype);
}

bool FileMatrix::usable_as(DType wanted) const {
  return dtype == wanted && !big_endian &&
         reinterpret_cast<std::uintptr_t>(data) % size_of(wanted) == 0;
}

template <class T>
void read_block(const FileMatrix& m, std::int64_t row, std::int64_t col, std::int64_t rows,
                std::int64_t cols, T* out, std::int64_t ld_out) {
  check_range(m, "rows", row, rows, m.rows);
  check_range(m, "columns", col, cols, m.cols);
  if (rows == 0 || cols == 0) return;
  if (m.layout == Layout::kColMajor) return read_columns(m, row, col, rows, cols, out, ld_out);
  const auto size = static_cast<std::int64_t>(size_of(m.dtype));
  for (std::int64_t i = 0; i < rows; ++i) {
    widen(m.dtype, m.big_endian, m.data + ((row + i) * m.cols + col) * size, cols,
          out + i * ld_out);
  }
}

template void read_block<float>(const FileMatrix&, std::int64_t, std::int64_t, std::int64_t,
                                std::int64_t, float*, std::int64_t);
template void read_block<double>(const FileMatrix&, std::int64_t, std::int64_t, std::int64_t,
                                 std::int64_t, double*, std::int64_t);
template void read_block<BFloat16>(const FileMatrix&, std::int64_t, std::int64_t, std::int64_t,
                                   std::int64_t, BFloat16*, std::int64_t);
template void read_block<Float16>(const FileMatrix&, std::int64_t, std::int64_t, std::int64_t,
                                  std::int64_t, Float16*, std::int64_t);

MatrixSource source_of(const FileMatrix& m) {
  MatrixSource source;
  source.rows = m.rows;
  source.cols = m.cols;
  source.read = [m](std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                    double* out,
                    std::int64_t ld_out) { read_block(m, row, col, rows, cols, out, ld_out); };
  return source;
}

void release_pages(const FileMatrix& m, std::int64_t first, std::int64_t count) {
  const bool by_rows = m.layout == Layout::kRowMajor;
  const std::int64_t runs = by_rows ? m.rows : m.cols;
  check_range(m, by_rows ? "rows" : "columns", first, count, runs);
  if (m.bytes() == 0) return;
  const std::int64_t run_bytes = m.ld() * static_cast<std::int64_t>(size_of(m.dtype));
  drop_pages(m.mapping, m.data + first * run_bytes, m.data + (first + count) * run_bytes,
             first + count == runs);
}

}  // namespace tessera::io
