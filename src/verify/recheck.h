// Second stage: elements computed again in FP64 and judged one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/check.h"

namespace tessera::verify_detail {

/// Columns are rechecked in blocks of this many.
inline constexpr std::int64_t kColumnBlock = 128;

struct RecheckResult {
  std::int64_t rows = 0;  ///< rows looked at
  double worst_ratio = 0;
  double largest_detectable = 0;  ///< largest Verdict::detectable
  // The first wrong element in the order of rows; row is -1 when there is none.
  std::int64_t row = -1, col = -1;
  double got = 0;
  Verdict verdict;
};

/// Judges the elements of `rows` (ascending; null: every row) in the column blocks listed
/// (ascending). Stops after the wave of rows in which the first wrong element is found. What it
/// returns does not depend on the number of threads.
RecheckResult recheck(const Check& check, Runner& runner, const std::vector<std::int64_t>* rows,
                      const std::vector<std::int64_t>& column_blocks);

}  // namespace tessera::verify_detail
