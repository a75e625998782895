// First stage: which rows of C cannot be right, or may not be, at O(mn + mk + kn) cost.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/check.h"

namespace tessera::verify_detail {

/// Most sign vectors: one 64-bit word holds the signs of one column of C, the calibrating ones
/// included.
inline constexpr int kMaxRounds = 60;

struct Screening {
  std::vector<std::int64_t> rows;           ///< to be rechecked, ascending
  std::vector<std::int64_t> column_blocks;  ///< to be rechecked in every row, ascending
  double worst_ratio = 0;       ///< largest |residual| / threshold of the rows that passed
  double detectable_error = 0;  ///< see VerifyReport
};

Screening screen(const Check& check, Runner& runner, int rounds, std::uint64_t seed);

}  // namespace tessera::verify_detail
