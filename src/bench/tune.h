// Tuning on one case: which kernels there are, which must still run, which is the fastest.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/tune_cache.h"

namespace tessera::bench {

/// Runs kernels on a case in turns, each verified before and after; a row for each, by `requested`.
using TuneRunner = std::function<std::vector<Row>(
    const Case&, const std::vector<std::string>& kernels, double seconds)>;

struct TuneOptions {
  bool fresh = false;             ///< as if no kernel that may win had been timed
  double seconds = 0.2;           ///< timed, for each kernel, at most
  double budget_s = 60;           ///< for this case
  std::function<double()> now_s;  ///< a clock
  std::string date;               ///< of the timings
};

/// A kernel for the case's memory space and element type.
struct TuneCandidate {
  std::string id;
  double estimate_s = 0;   ///< predicted
  bool requested = false;  ///< it may win
  std::string refusal;     ///< the rule by which it cannot take the case; empty when it can
};

struct TuneField {
  std::vector<TuneCandidate> candidates;
  std::string automatic;  ///< what "auto" takes
};
/// The registry's kernels for a case, which lies where it is to run; those that answer to one of
/// `requests` (all, when there are none) may win. Throws Error(kUnsupported) when no kernel can
/// take it.
TuneField tune_field(const Case& c, const std::vector<std::string>& requests);

/// A kernel on the case, timed now or earlier.
struct TunedKernel {
  std::string id;
  bool requested = false;  ///< false: it ran for comparison
  bool measured_now = false;
  TuneTiming timing;
  std::string detail;  ///< why it did not pass
};

/// A kernel that was not timed, and why.
struct Untimed {
  std::string id, reason;
};

struct TuneResult {
  Case what;
  TuneShape shape;
  std::vector<TunedKernel> kernels;  ///< passed ones by time, then the others
  std::vector<Untimed> skipped;      ///< cannot take the case
  std::vector<Untimed> not_reached;  ///< the budget ended first
  std::string best;                  ///< of those requested; empty when none passed
  std::string winner;                ///< of all, with those of the cache
  std::string automatic;             ///< what "auto" takes
  double seconds_used = 0;

  const TunedKernel* find(const std::string& id) const;
  /// What was timed now, for TuneCache::put.
  TunedShape contest() const;
};

/// Runs the kernels that `known`, the cache's entry for the case (or null), has no passed timing
/// of; with them, in the same contests, the best known ones and the choice of "auto", so that who
/// wins is decided within one run. A kernel that fails, is wrong, or has no plausible time never
/// wins; nor does the cache, when its best fails: then all run again. Throws what the runner
/// throws.
TuneResult tune_case(const Case& c, const TuneField& field, const TunedShape* known,
                     const TuneOptions& options, const TuneRunner& run);

}  // namespace tessera::bench
