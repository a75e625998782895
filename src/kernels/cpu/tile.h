// The register tile and the packing that feeds it: what every blocked path of the CPU is made of.
//
// A tile of C stays in vector registers while depth steps of multiply-adds are accumulated: each
// step loads a few vectors of a row of op(B) and meets them with one broadcast element for each row
// of op(A). Operands may be read where they lie or from packed panels, by the strides in the call.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

// Bounds over all instruction sets, so that workspace does not depend on the one in use.
inline constexpr int kMaxTileRows = 14;
inline constexpr int kMaxTileVectors = 4;
inline constexpr std::int64_t kMaxTileRowBytes = 128;  // of the tile for packed operands
inline constexpr std::int64_t kMaxWideRowBytes = 256;  // of the widest tile

/// How the accumulated product of a depth block enters C.
enum class Merge {
  kStore,   ///< C = alpha sum
  kStream,  ///< the same past the caches, where C is aligned to whole cache lines
  kScale,   ///< C = alpha sum + beta C
  kAdd,     ///< C = alpha sum + C
};

/// C(0..rows, 0..cols) = merge(sum over p of a(i, p) b(p, j)). One chain of multiply-adds for each
/// element, so its bits do not depend on where it lies in a tile.
template <class T>
struct TileCall {
  std::int64_t depth;
  const T* a;                  ///< a(i, p) at a[i * a_row + p * a_step]
  std::int64_t a_row, a_step;  ///< a_row is 1 or a_step is 1
  const T* b;                  ///< b(p, j) at b[p * b_step + j]
  std::int64_t b_step;
  T* c;
  std::int64_t ldc;
  T alpha, beta;
  Merge merge;
  int rows, cols;
  /// C may be far away: its lines are fetched while the sums are made.
  bool fetches_c = true;
  /// Columns at the left that another tile stores. They keep the last vector within b: what lies
  /// past its end is not this product's, and could raise floating-point exceptions that it does
  /// not.
  int skip = 0;
  /// Where b has fewer columns than a vector: none past column `cols` is read. Slower.
  bool exact_b = false;
  /// What a later call reads, fetched into L2 meanwhile: so many bytes a step of depth, and as many
  /// so many elements further.
  const T* ahead = nullptr;
  std::int64_t ahead_bytes = 0, ahead_also = 0;
  /// Of the tile that packs: where it leaves the rows of b it has read, one after another.
  T* packed = nullptr;
  /// So many tiles alike, each of them so many elements further: what a call costs is paid once.
  /// The pointers are left at the last of them.
  int count = 1;
  std::int64_t a_next = 0, b_next = 0, c_next = 0, ahead_next = 0, packed_next = 0;
};

template <class T>
using TileFunction = void (*)(TileCall<T>&);

/// Copies `count` lines of `depth` elements into panels of a fixed number of lines, p-major:
/// element (line, p) of a panel is at out[p * width + line], and panels follow one another. Lines
/// past `count` are zero. Adjacent lines are at x[p * ld + line], others at x[line * ld + p].
template <class T>
using PackFunction = void (*)(const T* x, std::int64_t ld, std::int64_t count, std::int64_t depth,
                              T* out);

/// The tiles and packing functions of one instruction set and element type.
template <class T>
struct TileKit {
  int rows, cols, lanes;  ///< of the tile for packed operands; elements of a vector
  int widest;             ///< vectors of the widest tile
  /// [vectors - 1]: the most rows that its sums leave registers for
  int most_rows[kMaxTileVectors];
  /// [rows of A are adjacent: a_row is 1][rows - 1][vectors - 1]
  TileFunction<T> tiles[2][kMaxTileRows][kMaxTileVectors];
  /// [rows - 1][vectors - 1], rows of A apart: pack b as they multiply by it. Copies cost no time
  /// of their own beside so many multiply-adds. Only with the most rows that so many vectors take,
  /// or one vector more; the others are null.
  TileFunction<T> packing_tiles[kMaxTileRows][kMaxTileVectors];
  /// Panels of `rows` lines and of `cols` lines; [the lines are adjacent]
  PackFunction<T> pack_a[2], pack_b[2];
  /// [vectors - 1][the lines are adjacent]: panels of so many vectors
  PackFunction<T> pack_vectors[kMaxTileVectors][2];

  /// That `count` elements take; lanes is a power of two.
  std::int64_t vectors(std::int64_t count) const {
    return (count + lanes - 1) >> std::countr_zero(static_cast<unsigned>(lanes));
  }
  /// The tile for rows x cols; rows are at most most_rows of the vectors that cols take.
  TileFunction<T> tile(bool adjacent, int tile_rows, int tile_cols) const {
    return tiles[adjacent][tile_rows - 1][vectors(tile_cols) - 1];
  }
};

/// Of the instruction set in use. float and double.
template <class T>
const TileKit<T>& tile_kit();

}  // namespace tessera
