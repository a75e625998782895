// The timed loop: prove, time in turns, prove again. It knows nothing of devices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/result.h"

namespace tessera::bench {

/// What a check of C found.
struct Check {
  std::string fault;       ///< empty when C is right and A and B are intact
  double worst_ratio = 0;  ///< of an error to the bound it must keep
};

/// One contender as the loop sees it. Any of these may throw: the row is then kFailed.
struct Timed {
  std::function<void()> run;                   ///< one product, complete on return
  std::function<double(int products)> time_s;  ///< seconds for that many, back to back
  std::function<void()> poison;                ///< every C := NaN, or C0 where beta is not 0
  std::function<Check()> check_one;            ///< judges what run left
  std::function<Check()> check_all;            ///< judges what the last time_s left
  int granule = 1;                             ///< products of a sample are a multiple of this
};

struct MeasureOptions {
  double seconds = 1;  ///< timed, for each contender, at most
  double shortest_sample_s = 2e-3;
  /// Enough samples when the 95% interval of the median is this narrow, relative to it.
  double precision = 0.003;
  int fewest_samples = 5;
  std::function<void()> between_samples;  ///< e.g. waits until a peer's threads sleep
};

/// Fills rows[i] from contenders[i]. Contenders take turns, so that a change of clock meets each;
/// the first turn is not counted. A contender whose product is wrong, or that throws, before or
/// after, has no times. The last sample of each writes to a poisoned C, which is then judged.
void measure(const std::vector<Timed>& contenders, const MeasureOptions& options,
             std::vector<Row>& rows);

/// Half the 95% interval of the median, relative to it: 1.57 * interquartile range / sqrt(samples)
/// (R. McGill, J. W. Tukey, W. A. Larsen, Variations of Box Plots, 1978).
double median_uncertainty(const Row& row);

}  // namespace tessera::bench
