#include "bench/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "tessera/kernel.h"

namespace tessera::bench {
namespace {

/// New ones in one contest; between contests the clock is looked at. The first contest is small: it
/// shows what proving a kernel costs on this case.
constexpr std::size_t kMostAtOnce = 16, kMostAtFirst = 4;
/// Products that a contender runs at least: proved, calibrated, one turn not counted, five that
/// are.
constexpr double kFewestProducts = 9;

bool answers(const Kernel& kernel, const std::vector<std::string>& requests) {
  return requests.empty() ||
         std::any_of(requests.begin(), requests.end(),
                     [&](const std::string& request) { return kernel.answers_to(request); });
}

bool has_time(const Row& row) {
  return row.disposition == Disposition::kPassed && std::isfinite(row.median_s()) &&
         row.median_s() > 0;
}

class CaseTuner {
 public:
  CaseTuner(const Case& c, const TuneField& field, const TunedShape* known,
            const TuneOptions& options, const TuneRunner& run)
      : options_(options), run_(run) {
    if (known != nullptr) known_ = known->kernels;
    result_.what = c;
    result_.shape = tune_shape(c);
    list_candidates(field);
    if (known != nullptr) start_from(*known);
  }

  TuneResult run() {
    const double start = options_.now_s();
    while (!pending_.empty()) {
      const double left = start + options_.budget_s - options_.now_s();
      const double seconds = seconds_each(left);
      const std::vector<std::string> batch = next_batch(left, seconds);
      if (batch.empty()) break;
      hold_contest(batch, seconds);
    }
    const double left = std::max(0.0, start + options_.budget_s - options_.now_s());
    for (const std::string& id : pending_) {
      result_.not_reached.push_back(
          {id, fmt::format("it needs {:.2g} s or more, {:.2g} s were left",
                           std::max(fewest_seconds(id), cost_each_s_), left)});
    }
    result_.seconds_used = options_.now_s() - start;
    collect();
    return result_;
  }

 private:
  void list_candidates(const TuneField& field) {
    result_.automatic = field.automatic;
    for (const TuneCandidate& candidate : field.candidates) {
      const std::string& id = candidate.id;
      if (!candidate.refusal.empty()) {
        if (candidate.requested) result_.skipped.push_back({id, candidate.refusal});
        continue;
      }
      estimate_s_[id] = candidate.estimate_s;
      if (!candidate.requested) continue;
      requested_.insert(id);
      if (options_.fresh || !is_known(id)) pending_.push_back(id);
    }
    std::stable_sort(pending_.begin(), pending_.end(),
                     [&](const std::string& x, const std::string& y) {
                       return estimate_s_.at(x) < estimate_s_.at(y);
                     });
  }

  void start_from(const TunedShape& known) {
    for (const std::string& id : known.by_merit()) {
      if (estimate_s_.count(id) == 0) continue;
      if (winner_.empty()) winner_ = id;
      if (best_.empty() && requested_.count(id) > 0) best_ = id;
    }
  }

  bool is_known(const std::string& id) const {
    const auto found = known_.find(id);
    return found != known_.end() && found->second.passed() && measured_.count(id) == 0;
  }
  bool is_pending(const std::string& id) const {
    return std::find(pending_.begin(), pending_.end(), id) != pending_.end();
  }

  /// Those that run again beside new ones.
  std::vector<std::string> references() const {
    std::vector<std::string> ids;
    for (const std::string& id : {best_, winner_, result_.automatic}) {
      const bool listed = std::find(ids.begin(), ids.end(), id) != ids.end();
      if (!id.empty() && !listed && !is_pending(id)) ids.push_back(id);
    }
    return ids;
  }

  double seconds_each(double left) const {
    const double contenders = static_cast<double>(pending_.size() + references().size());
    // Half for the timed loops, half for all that surrounds them.
    return std::clamp(left / 2 / contenders, 0.0, options_.seconds);
  }

  double fewest_seconds(const std::string& id) const {
    const auto known = known_.find(id), measured = measured_.find(id);
    const double product_s =
        measured != measured_.end() && measured->second.passed() ? measured->second.median_s
        : known != known_.end() && known->second.passed()        ? known->second.median_s
                                                                 : estimate_s_.at(id);
    return kFewestProducts * product_s;
  }

  /// The next contenders for which there is time, taken off the list.
  std::vector<std::string> next_batch(double left, double seconds) {
    std::vector<std::string> batch = references();
    double used = 0;
    const auto cost = [&](const std::string& id) {
      return std::max({fewest_seconds(id), seconds, cost_each_s_});
    };
    const std::size_t most = measured_.empty() ? kMostAtFirst : kMostAtOnce;
    for (const std::string& id : batch) used += cost(id);
    const std::size_t returning = batch.size();
    while (!pending_.empty() && batch.size() < most + returning) {
      used += cost(pending_.front());
      if (!(used <= left)) break;
      batch.push_back(pending_.front());
      pending_.pop_front();
    }
    if (batch.size() == returning) batch.clear();
    return batch;
  }

  void hold_contest(const std::vector<std::string>& contenders, double seconds) {
    const double start = options_.now_s();
    const std::vector<Row> rows = run_(result_.what, contenders, seconds);
    cost_each_s_ = (options_.now_s() - start) / static_cast<double>(contenders.size());
    for (const std::string& id : contenders) {
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.requested == id; });
      Row missing;
      missing.detail = "it was not run";
      note(id, row == rows.end() ? missing : *row);
    }
    const bool best_fell = contends(contenders, best_) && !measured_.at(best_).passed();
    const bool winner_fell = contends(contenders, winner_) && !measured_.at(winner_).passed();
    if (best_fell || winner_fell) distrust();
    best_ = fastest(contenders, true);
    winner_ = fastest(contenders, false);
  }

  void note(const std::string& id, const Row& row) {
    if (row.disposition == Disposition::kNotSupported) {
      result_.skipped.push_back({id, row.detail});
    }
    TuneTiming timing{row.disposition, 0, 0, options_.date};
    if (has_time(row)) {
      timing.median_s = row.median_s();
      timing.noise = row.noise();
    } else if (timing.passed()) {
      timing.disposition = Disposition::kFailed;
    }
    measured_[id] = timing;
    details_[id] = row.detail;
  }

  /// What the cache says of this case does not hold: nothing of it counts.
  void distrust() {
    for (const std::string& id : requested_) {
      if (is_known(id) && !is_pending(id)) pending_.push_back(id);
    }
    known_.clear();
  }

  static bool contends(const std::vector<std::string>& contenders, const std::string& id) {
    return std::find(contenders.begin(), contenders.end(), id) != contenders.end();
  }

  std::string fastest(const std::vector<std::string>& contenders, bool of_requested) const {
    std::string best;
    for (const std::string& id : contenders) {
      if (!measured_.at(id).passed() || (of_requested && requested_.count(id) == 0)) continue;
      if (best.empty() || measured_.at(id).median_s < measured_.at(best).median_s) best = id;
    }
    return best;
  }

  void collect() {
    result_.best = best_;
    result_.winner = winner_;
    for (const auto& [id, timing] : measured_) {
      if (timing.disposition == Disposition::kNotSupported) continue;
      result_.kernels.push_back({id, requested_.count(id) > 0, true, timing, details_.at(id)});
    }
    for (const auto& [id, timing] : known_) {
      if (estimate_s_.count(id) == 0 || !is_known(id) || is_pending(id)) continue;
      if (requested_.count(id) == 0 && id != winner_ && id != result_.automatic) continue;
      result_.kernels.push_back({id, requested_.count(id) > 0, false, timing, ""});
    }
    std::stable_sort(result_.kernels.begin(), result_.kernels.end(),
                     [](const TunedKernel& x, const TunedKernel& y) {
                       if (x.timing.passed() != y.timing.passed()) return x.timing.passed();
                       return x.timing.passed() && x.timing.median_s < y.timing.median_s;
                     });
  }

  const TuneOptions& options_;
  const TuneRunner& run_;
  TuneResult result_;
  std::map<std::string, TuneTiming> known_, measured_;
  std::map<std::string, std::string> details_;
  std::map<std::string, double> estimate_s_;  // of all that can take the case
  std::set<std::string> requested_;
  std::deque<std::string> pending_;
  std::string best_, winner_;
  double cost_each_s_ = 0;  // of a contender in the contest before
};

}  // namespace

const TunedKernel* TuneResult::find(const std::string& id) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const TunedKernel& kernel) { return kernel.id == id; });
  return found == kernels.end() ? nullptr : &*found;
}

TunedShape TuneResult::contest() const {
  TunedShape tuned;
  for (const TunedKernel& kernel : kernels) {
    if (kernel.measured_now) tuned.kernels[kernel.id] = kernel.timing;
  }
  tuned.winner = winner;
  return tuned;
}

TuneField tune_field(const Case& c, const std::vector<std::string>& requests) {
  const Explanation all = Plan(c.desc).explain();
  TuneField field;
  field.automatic = all.chosen;
  const auto& kernels = registry().kernels();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool here = (kernels[i].id.backend == "cuda") == (c.desc.space == Space::kCuda);
    if (!here || kernels[i].id.dtype != c.desc.input_dtype()) continue;
    const Candidate& said = all.candidates[i];  // in the order of the registry
    field.candidates.push_back({said.id, said.estimate_us * 1e-6, answers(kernels[i], requests),
                                said.rejection ? said.rejection->rule : ""});
  }
  return field;
}

TuneResult tune_case(const Case& c, const TuneField& field, const TunedShape* known,
                     const TuneOptions& options, const TuneRunner& run) {
  return CaseTuner(c, field, known, options, run).run();
}

}  // namespace tessera::bench
