#include "bench/tuned.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tessera/error.h"

namespace tessera::bench {
namespace {

constexpr double kFarthest = 16;

double log_ratio(std::int64_t x, std::int64_t y) {
  return std::log(static_cast<double>(x) / static_cast<double>(y));
}

bool comparable(const TuneShape& x, const TuneShape& y) {
  const double most = std::log(kFarthest) * (1 + 1e-12);
  return x.ops == y.ops && x.dtype == y.dtype && std::fabs(log_ratio(x.m, y.m)) <= most &&
         std::fabs(log_ratio(x.n, y.n)) <= most && std::fabs(log_ratio(x.k, y.k)) <= most;
}

double distance(const TuneShape& x, const TuneShape& y) {
  const double m = log_ratio(x.m, y.m), n = log_ratio(x.n, y.n), k = log_ratio(x.k, y.k);
  return m * m + n * n + k * k;
}

/// Kernels of this build that can take the case; none when the case itself is refused.
std::set<std::string> able_kernels(const Case& c) {
  std::set<std::string> ids;
  try {
    for (const Candidate& candidate : Plan(c.desc).explain().candidates) {
      if (!candidate.rejection) ids.insert(candidate.id);
    }
  } catch (const Error&) {  // whoever runs the case will say why
  }
  return ids;
}

}  // namespace

std::optional<TunedChoice> tuned_kernel(const TuneCache& cache, const Case& c,
                                        const DeviceKey& key) {
  const TuneCache::Shapes* shapes = cache.find(key);
  const std::set<std::string> able =
      c.m < 1 || c.n < 1 || c.k < 1 ? std::set<std::string>() : able_kernels(c);
  if (shapes == nullptr || able.empty()) return {};
  const TuneShape wanted = tune_shape(c);
  std::vector<const TuneCache::Shapes::value_type*> near;
  for (const auto& entry : *shapes) {
    if (comparable(entry.first, wanted)) near.push_back(&entry);
  }
  std::stable_sort(near.begin(), near.end(), [&](const auto* x, const auto* y) {
    const double to_x = distance(x->first, wanted), to_y = distance(y->first, wanted);
    if (to_x != to_y) return to_x < to_y;
    return x->first.form == wanted.form && y->first.form != wanted.form;
  });
  for (const auto* entry : near) {
    for (const std::string& id : entry->second.by_merit()) {
      if (able.count(id) == 0) continue;
      return TunedChoice{id, entry->first, entry->first == wanted,
                         entry->second.kernels.at(id).median_s};
    }
  }
  return {};
}

}  // namespace tessera::bench
