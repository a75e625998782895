// What another pitch would do to a shared array's bank conflicts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// Wavefronts of one request: lanes at `offsets` (negative: no access) of `bytes` each. See
/// simt/banks.h.
unsigned wavefronts(const std::vector<std::int64_t>& offsets, int bytes);

/// Those that the same request takes without a conflict.
unsigned ideal_wavefronts(const std::vector<std::int64_t>& offsets, int bytes);

/// Another pitch for a shared array of rows.
struct Padding {
  std::int64_t bytes = 0;     ///< added to each row
  std::int64_t pitch = 0;     ///< in bytes, padding included
  bool is_simulated = false;  ///< else by rule of thumb, as the pattern is not known
  double wavefronts = 0;      ///< of the site's request, where simulated
  bool is_free = false;       ///< no conflict remains
};

/// The smallest padding that brings `site` to its ideal and makes no other access to its array
/// worse, aligned for the widest access to it; else the one with the fewest wavefronts in all, if
/// that is fewer than now. Nothing where rows are not known or padding does not help.
std::optional<Padding> best_padding(const Site& site, const std::vector<Site>& all);

}  // namespace tessera::simt
