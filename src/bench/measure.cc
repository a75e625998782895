#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::bench {
namespace {

void settle(Row& row, Disposition disposition, std::string detail) {
  row.disposition = disposition;
  row.detail = std::move(detail);
  row.seconds.clear();
}

/// Runs a step of one contender; false when the row is decided against it.
template <class Step>
bool attempt(Row& row, Step step) {
  try {
    step();
    return true;
  } catch (const std::exception& e) {
    settle(row, Disposition::kFailed, e.what());
    return false;
  }
}

bool proved(const Check& check, Row& row, const char* when) {
  if (!check.fault.empty()) {
    settle(row, Disposition::kIncorrect, fmt::format("{} the timed loop: {}", when, check.fault));
    return false;
  }
  row.worst_ratio = std::max(row.worst_ratio, check.worst_ratio);
  return true;
}

/// Products per sample, so that a sample is long enough for the clock.
int calibrate(const Timed& timed, double shortest_s) {
  double granule_s = timed.time_s(timed.granule);
  if (granule_s < shortest_s) granule_s = timed.time_s(timed.granule);  // the first is slow
  const double one_s = std::max(granule_s / timed.granule, 1e-9);
  const double wanted = std::clamp(shortest_s / one_s, 1.0, 1e6);
  return static_cast<int>(std::ceil(wanted / timed.granule)) * timed.granule;
}

bool prepare(const Timed& timed, const MeasureOptions& options, Row& row) {
  bool ready = false;
  attempt(row, [&] {
    timed.poison();
    timed.run();
    if (!proved(timed.check_one(), row, "before")) return;
    row.products_per_sample = calibrate(timed, options.shortest_sample_s);
    ready = true;
  });
  return ready;
}

class Turns {
 public:
  Turns(const std::vector<Timed>& contenders, const MeasureOptions& options, std::vector<Row>& rows)
      : contenders_(contenders), options_(options), rows_(rows), spent_s_(rows.size(), 0) {}

  /// One sample; false when it threw.
  bool sample(std::size_t i, bool counted) {
    return attempt(rows_[i], [&] {
      if (options_.between_samples) options_.between_samples();
      const double sample_s = contenders_[i].time_s(rows_[i].products_per_sample);
      if (!counted) return;
      spent_s_[i] += sample_s;
      rows_[i].seconds.push_back(sample_s / rows_[i].products_per_sample);
    });
  }

  bool enough(std::size_t i) const {
    const Row& row = rows_[i];
    // Of what takes long, three are enough. The last sample, which is judged, is one of them.
    constexpr int kFewestSlow = 3;
    const bool is_slow = spent_s_[i] > std::max(1.0, 2 * options_.seconds);
    const int fewest = is_slow ? kFewestSlow : options_.fewest_samples;
    if (static_cast<int>(row.seconds.size()) + 1 < fewest) return false;
    if (spent_s_[i] >= options_.seconds) return true;
    constexpr int kForAnInterval = 11;
    return static_cast<int>(row.seconds.size()) >= kForAnInterval &&
           spent_s_[i] >= options_.seconds / 5 && median_uncertainty(row) <= options_.precision;
  }

 private:
  const std::vector<Timed>& contenders_;
  const MeasureOptions& options_;
  std::vector<Row>& rows_;
  std::vector<double> spent_s_;
};

}  // namespace

double median_uncertainty(const Row& row) {
  // noise() is half the interquartile range over the median.
  return 1.57 * 2 * row.noise() / std::sqrt(static_cast<double>(row.seconds.size()));
}

void measure(const std::vector<Timed>& contenders, const MeasureOptions& options,
             std::vector<Row>& rows) {
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (prepare(contenders[i], options, rows[i])) alive.push_back(i);
  }
  Turns turns(contenders, options, rows);
  const auto drop_failed = [&] {
    std::erase_if(alive, [&](std::size_t i) { return !rows[i].detail.empty(); });
  };
  for (const std::size_t i : alive) turns.sample(i, false);
  drop_failed();
  // Everyone goes on until the last has enough: all then saw the same stretch of time.
  while (!std::all_of(alive.begin(), alive.end(), [&](std::size_t i) { return turns.enough(i); })) {
    for (const std::size_t i : alive) turns.sample(i, true);
    drop_failed();
  }
  for (const std::size_t i : alive) {
    Row& row = rows[i];
    if (!attempt(row, [&] { contenders[i].poison(); }) || !turns.sample(i, true)) continue;
    attempt(row, [&] {
      if (proved(contenders[i].check_all(), row, "after")) row.disposition = Disposition::kPassed;
    });
    constexpr double kNoisy = 0.02;
    if (row.disposition == Disposition::kPassed && median_uncertainty(row) > kNoisy) {
      row.remarks.push_back(
          fmt::format("noisy: the median is known to {:.1f}% only", 100 * median_uncertainty(row)));
    }
  }
}

}  // namespace tessera::bench
