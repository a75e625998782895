// Which block computes what: whole tiles while they fill the chip, and the last ones shared along
// k.
//
// A step is one block-deep slice of k. `whole` tiles are computed by a block each. The `rest` that
// would leave multiprocessors idle is laid end to end, rest * steps long, and cut into pieces of
// `share` steps, one a block; a piece may end one tile and begin the next. What a piece adds to a
// tile goes to slot piece + tile - whole of a workspace: that numbers the slots in order, and the
// slots of one tile are consecutive, so that a second kernel sums them in that order.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TESSERA_HOST_DEVICE __host__ __device__
#else
#define TESSERA_HOST_DEVICE
#endif

namespace tessera::cuda {

struct TileSchedule {
  std::int64_t tiles_m = 0, tiles_n = 0, batch = 0;
  std::int64_t steps = 0;  ///< of one tile
  std::int64_t whole = 0;  ///< tiles computed by one block each
  std::int64_t share = 1;  ///< steps of a piece

  struct Place {
    std::int64_t batch, row, col;  ///< in tiles
  };

  TESSERA_HOST_DEVICE std::int64_t tiles() const { return tiles_m * tiles_n * batch; }
  TESSERA_HOST_DEVICE std::int64_t rest() const { return tiles() - whole; }
  TESSERA_HOST_DEVICE std::int64_t pieces() const { return (rest() * steps + share - 1) / share; }
  TESSERA_HOST_DEVICE std::int64_t blocks() const { return whole + pieces(); }
  TESSERA_HOST_DEVICE std::int64_t slots() const { return rest() == 0 ? 0 : pieces() + rest(); }

  /// The steps of block `index`, counted through all tiles: tile = step / steps.
  TESSERA_HOST_DEVICE std::int64_t first_step(std::int64_t index) const {
    return index < whole ? index * steps : whole * steps + (index - whole) * share;
  }
  TESSERA_HOST_DEVICE std::int64_t end_step(std::int64_t index) const {
    const std::int64_t end = first_step(index) + (index < whole ? steps : share);
    return end < tiles() * steps ? end : tiles() * steps;
  }

  TESSERA_HOST_DEVICE std::int64_t slot(std::int64_t piece, std::int64_t tile) const {
    return piece + tile - whole;
  }
  /// The pieces that hold steps of a shared tile.
  TESSERA_HOST_DEVICE std::int64_t first_piece(std::int64_t tile) const {
    return (tile - whole) * steps / share;
  }
  TESSERA_HOST_DEVICE std::int64_t last_piece(std::int64_t tile) const {
    return ((tile - whole + 1) * steps - 1) / share;
  }

  /// Tiles are numbered down columns of a band of eight rows, so that blocks that run together read
  /// few different panels and find them in L2.
  TESSERA_HOST_DEVICE Place place(std::int64_t tile) const {
    constexpr std::int64_t kBand = 8;
    const std::int64_t in_batch = tile % (tiles_m * tiles_n);
    const std::int64_t band = in_batch / (kBand * tiles_n);
    const std::int64_t in_band = in_batch % (kBand * tiles_n);
    const std::int64_t left = tiles_m - band * kBand;
    const std::int64_t rows = left < kBand ? left : kBand;
    return {tile / (tiles_m * tiles_n), band * kBand + in_band % rows, in_band / rows};
  }
};

}  // namespace tessera::cuda
