// What "tuned" means for a case: the best kernel measured on its shape, or on the nearest.
#pragma once

#include <optional>
#include <string>

#include "bench/tune_cache.h"

namespace tessera::bench {

struct TunedChoice {
  std::string kernel;     ///< id
  TuneShape measured_on;  ///< the shape that it was the best of
  bool exact = false;     ///< that is the case's own
  double median_s = 0;    ///< there
};

/// Of the kernels measured under `key` on the case's shape, the winner, or the fastest that can
/// take the case; else the same of the nearest shape of the same ops and element type.
///
/// Near is a small sum of ln(m/m')^2, ln(n/n')^2, ln(k/k')^2, and, where that is equal, the same
/// form. A shape that is off by more than a factor of 16 in m, n or k says nothing and is passed
/// over. The case says where its operands lie. std::nullopt when nothing fits: then "auto" is
/// right.
std::optional<TunedChoice> tuned_kernel(const TuneCache& cache, const Case& c,
                                        const DeviceKey& key);

}  // namespace tessera::bench
