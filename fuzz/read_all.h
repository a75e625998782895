// What both fuzz targets do with a matrix that was accepted: read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "io/tensor.h"

namespace tessera::io {

/// Reads every element when there are few, else the corners, so that a matrix that reaches outside
/// the bytes of its file is caught by the address sanitizer. Both widths are used.
inline void read_all(const FileMatrix& m) {
  constexpr std::int64_t kMost = 1 << 16;
  if (m.rows == 0 || m.cols == 0) return;
  const bool few = m.rows <= kMost / m.cols;
  const std::int64_t rows = few ? m.rows : std::min<std::int64_t>(m.rows, 8);
  const std::int64_t cols = few ? m.cols : std::min<std::int64_t>(m.cols, 8);
  std::vector<float> narrow(static_cast<std::size_t>(rows * cols));
  std::vector<double> wide(narrow.size());
  read_block(m, 0, 0, rows, cols, narrow.data(), cols);
  read_block(m, m.rows - rows, m.cols - cols, rows, cols, wide.data(), cols);
}

}  // namespace tessera::io
