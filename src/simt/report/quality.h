// Which accesses deserve a warning. All thresholds are here.
#pragma once

#include "simt/model.h"

namespace tessera::simt {

/// A conflict that adds less than this to a site's wavefronts is not worth a change of the source:
/// it comes from a few requests at a tile's edge.
inline constexpr double kMinConflictExcess = 0.10;

/// A request is scattered when it touches at least this many times its ideal of sectors...
inline constexpr double kMinSectorRatio = 2;
/// ... and at least this many more. Rows of a narrow tile begin anywhere, and each may cost one
/// sector more; a warp usually spans up to four rows. Lanes that share one element (a broadcast)
/// touch few sectors too, and are free.
inline constexpr double kMinSectorExcess = 4;

/// A sector of which less than this is used is mostly waste, however few sectors there are.
inline constexpr double kMinUsefulShare = 0.5;

inline constexpr int kSectorBytes = 32;

enum class Verdict {
  kGood,
  kBroadcast,  ///< lanes share elements
  kEdges,      ///< rows that do not begin at a sector
  kBankConflict,
  kUncoalesced,
  kFewUsefulBytes,
};
Verdict verdict(const Site& site);
inline bool is_warning(Verdict v) { return v >= Verdict::kBankConflict; }

/// Wavefronts of shared, sectors of global memory.
std::uint64_t moved(const Site& site);
std::uint64_t ideal(const Site& site);
/// moved / ideal - 1; 0 where nothing is known.
double excess(const Site& site);
/// x / y; 0 where y is 0, so that no report shows infinity.
double ratio(double x, double y);

}  // namespace tessera::simt
