#include "simt/report/quality.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace tessera::simt {
namespace {

constexpr double kMaxRows = 4;  // that a warp spans where the pattern is not known

// Sectors of a request if each of its runs of neighbouring bytes began at a sector.
double aligned_sectors(const Site& site) {
  std::vector<std::int64_t> at;
  for (const std::int64_t offset : site.lane_offsets)
    if (offset >= 0) at.push_back(offset);
  std::sort(at.begin(), at.end());
  double sectors = 0;
  for (std::size_t i = 0; i < at.size();) {
    std::int64_t end = at[i] + site.bytes;
    const std::int64_t start = at[i];
    while (i < at.size() && at[i] <= end) end = std::max(end, at[i++] + site.bytes);
    sectors += static_cast<double>((end - start + kSectorBytes - 1) / kSectorBytes);
  }
  return sectors;
}

// Sectors per request without those that an unaligned start costs.
double without_edges(const Site& site, double per_request, double ideal_per_request) {
  if (!site.lane_offsets.empty()) return std::min(per_request, aligned_sectors(site));
  const std::int64_t stride = std::abs(site.lane_stride);
  if (stride > site.bytes) return per_request;  // strided: there are no rows
  const double rows = stride == 0 ? kMaxRows : 1;
  return std::max(ideal_per_request, per_request - rows);
}

Verdict global_verdict(const Site& site) {
  if (site.requests == 0) return Verdict::kGood;
  const double requests = static_cast<double>(site.requests);
  const double per_request = ratio(static_cast<double>(site.sectors), requests);
  const double best = ratio(static_cast<double>(site.ideal_sectors), requests);
  const double asked = static_cast<double>(site.lanes) * site.bytes;
  const bool shared_elements = 2 * static_cast<double>(site.useful_bytes) <= asked;
  const double scattered = without_edges(site, per_request, best);
  if (site.sectors <= site.ideal_sectors)
    return shared_elements ? Verdict::kBroadcast : Verdict::kGood;
  if (scattered >= kMinSectorRatio * best && scattered - best >= kMinSectorExcess)
    return Verdict::kUncoalesced;
  const double useful = ratio(static_cast<double>(site.useful_bytes),
                              static_cast<double>(site.sectors) * kSectorBytes);
  if (!shared_elements && useful < kMinUsefulShare && scattered >= kMinSectorRatio * best)
    return Verdict::kFewUsefulBytes;
  return shared_elements ? Verdict::kBroadcast : Verdict::kEdges;
}

}  // namespace

double ratio(double x, double y) { return y > 0 ? x / y : 0; }

std::uint64_t moved(const Site& site) {
  return site.space == Space::kShared ? site.wavefronts : site.sectors;
}
std::uint64_t ideal(const Site& site) {
  return site.space == Space::kShared ? site.ideal_wavefronts : site.ideal_sectors;
}

double excess(const Site& site) {
  if (ideal(site) == 0 || moved(site) <= ideal(site)) return 0;
  return static_cast<double>(moved(site) - ideal(site)) / static_cast<double>(ideal(site));
}

Verdict verdict(const Site& site) {
  if (site.space == Space::kGlobal) return global_verdict(site);
  return excess(site) >= kMinConflictExcess ? Verdict::kBankConflict : Verdict::kGood;
}

}  // namespace tessera::simt
