// A problem as grids that CUDA can launch: as many as its limits ask for.
#pragma once

#include <vector_types.h>

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

/// The part of C that one launch computes.
struct Part {
  std::int64_t row = 0, col = 0, batch = 0;  ///< its first row, column and batch member
  std::int64_t rows = 0, cols = 0;
  dim3 grid;  ///< x: column tiles, y: row tiles, z: batch members
};

// CUDA Programming Guide, "Technical Specifications per Compute Capability".
inline constexpr std::int64_t kMaxGridX = 0x7FFFFFFF;
inline constexpr std::int64_t kMaxGridYZ = 65535;

/// Calls launch(part) for parts that cover rows x cols x batch in tiles of tile_rows x tile_cols.
/// Rows lie along grid y, whose limit long matrices pass; each part starts on a tile boundary.
template <class Launch>
void for_each_part(std::int64_t rows, std::int64_t cols, std::int64_t batch, int tile_rows,
                   int tile_cols, Launch&& launch) {
  const auto tiles = [](std::int64_t size, int tile) {
    return static_cast<unsigned>((size + tile - 1) / tile);
  };
  const std::int64_t max_rows = kMaxGridYZ * tile_rows, max_cols = kMaxGridX * tile_cols;
  for (std::int64_t z = 0; z < batch; z += kMaxGridYZ) {
    for (std::int64_t i = 0; i < rows; i += max_rows) {
      for (std::int64_t j = 0; j < cols; j += max_cols) {
        Part part{i, j, z, std::min(rows - i, max_rows), std::min(cols - j, max_cols), {}};
        part.grid = dim3(tiles(part.cols, tile_cols), tiles(part.rows, tile_rows),
                         static_cast<unsigned>(std::min(batch - z, kMaxGridYZ)));
        launch(part);
      }
    }
  }
}

}  // namespace tessera::cuda
