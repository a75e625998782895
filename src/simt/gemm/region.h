// Where elements of C are wrong, in words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::simt {

enum class RegionKind {
  kAll,
  kOffDiagonal,  ///< everything but the diagonal
  kTailRows,     ///< rows first_row and below
  kTailColumns,
  kTailBoth,  ///< the last rows and the last columns
  kRectangle,
  kRowPattern,  ///< rows of some remainders
  kColumnPattern,
  kScattered
};

struct Region {
  RegionKind kind = RegionKind::kScattered;
  std::int64_t first_row = 0, first_column = 0;
  std::string text;  ///< "in the tail of M, rows 64 to 71"
};

/// `wrong`: m x n flags, at least one set. `judged`: those that count; an element never written is
/// neither right nor wrong.
Region find_region(std::int64_t m, std::int64_t n, const std::vector<bool>& wrong,
                   const std::vector<bool>& judged);

/// "3", "3 to 5, 9"; at most four parts, then "and N more".
std::string ranges(const std::vector<std::int64_t>& ascending);
/// "row 3", "rows 3 to 5, 9".
std::string named(const std::string& thing, const std::vector<std::int64_t>& ascending);
/// "1 row", "8 rows".
std::string counted(std::int64_t count, const std::string& thing);

}  // namespace tessera::simt
