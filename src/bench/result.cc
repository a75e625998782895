#include "bench/result.h"

#include <algorithm>
#include <cmath>

namespace tessera::bench {
namespace {

/// By linear interpolation between the ordered samples.
double quantile(std::vector<double> samples, double part) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double at = part * static_cast<double>(samples.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, samples.size() - 1);
  return samples[low] + (at - static_cast<double>(low)) * (samples[high] - samples[low]);
}

}  // namespace

std::string_view to_string(Disposition disposition) {
  switch (disposition) {
    case Disposition::kPassed:
      return "passed";
    case Disposition::kIncorrect:
      return "incorrect";
    case Disposition::kNotSupported:
      return "not supported";
    case Disposition::kImplausible:
      return "implausible";
    case Disposition::kFailed:
      break;
  }
  return "failed";
}

std::optional<Disposition> parse_disposition(std::string_view text) {
  for (const Disposition d : {Disposition::kPassed, Disposition::kIncorrect, Disposition::kFailed,
                              Disposition::kNotSupported, Disposition::kImplausible}) {
    if (text == to_string(d)) return d;
  }
  return std::nullopt;
}

std::string_view to_string(CacheState state) {
  return state == CacheState::kWarm ? "warm" : "cold";
}

double Row::median_s() const { return quantile(seconds, 0.5); }
double Row::min_s() const { return quantile(seconds, 0); }
double Row::max_s() const { return quantile(seconds, 1); }
double Row::noise() const {
  return seconds.empty() ? 0 : (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / 2 / median_s();
}

}  // namespace tessera::bench
