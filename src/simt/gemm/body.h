// What the body of a kernel tells of its launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simt/source/translate.h"

namespace tessera::simt {

/// How the sizes and C are called in the body; empty where there is none.
struct BodyNames {
  std::string a, b, c, m, n, k, ldc;
  bool column_major = false;  ///< what is multiplied in the index of C is its column
};

struct BodyFacts {
  bool known = false;  ///< there is a body
  bool uses_block_x = false, uses_block_y = false;
  /// A block has one row or column along this axis: blockIdx is not multiplied by a tile.
  bool is_bare_x = false, is_bare_y = false;
  bool divides_x = false;    ///< that index is divided into a row and a column
  bool is_per_warp = false;  ///< a warp, not a thread, along blockIdx.x has one element
  bool uses_dynamic_shared = false;
  /// blockIdx.x chooses rows of C. No value: the body does not say.
  std::optional<bool> x_is_row;
  /// With blockIdx.x alone: what its threads run over, "M", "N" or empty.
  std::string linear_over;
  /// The index of C multiplies by k and that of A by n: K and N have changed names.
  bool inner_is_n = false;
  bool adds_to_c = false;            ///< C is added to and never stored to
  std::vector<Constant> constants;   ///< integer constants of its own
  std::vector<std::string> extents;  ///< of its first __shared__ array with two dimensions
  std::string line_extent;           ///< of its first with one
};

BodyFacts read_body(const std::string& body, const BodyNames& names);

}  // namespace tessera::simt
