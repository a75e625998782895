// The report of `tessera tune`: for people, and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "quantities.h"
#include "tune.h"

namespace tessera::cli {
namespace {

using bench::TunedKernel;
using bench::TuneResult;

double gflops(const TuneResult& result, const TunedKernel& kernel) {
  return bench::flops_of(result.what) / kernel.timing.median_s / 1e9;
}

/// Time of what "auto" takes over that of the best; 0 where one has none.
double auto_ratio(const TuneResult& result) {
  const TunedKernel* automatic = result.find(result.automatic);
  const TunedKernel* best = result.find(result.best);
  if (automatic == nullptr || best == nullptr || !automatic->timing.passed()) return 0;
  return automatic->timing.median_s / best->timing.median_s;
}

std::string auto_text(const TuneResult& result) {
  if (result.automatic == result.best) return "auto takes the same";
  const double ratio = auto_ratio(result);
  if (ratio <= 0) return fmt::format("auto takes {}, which has no time", result.automatic);
  return fmt::format("auto takes {}, in {:.3g} times the time", result.automatic, ratio);
}

std::string note(const TuneResult& result, const TunedKernel& kernel) {
  std::vector<std::string> notes;
  if (kernel.id == result.best) notes.emplace_back("best");
  if (kernel.id == result.automatic) notes.emplace_back("auto");
  if (!kernel.requested) notes.emplace_back("for comparison");
  if (!kernel.measured_now) notes.push_back("cached " + kernel.timing.date.substr(0, 10));
  return fmt::format("{}", fmt::join(notes, ", "));
}

/// The fastest that answers to a request; null when none passed.
const TunedKernel* best_of(const TuneResult& result, const std::string& request) {
  for (const TunedKernel& kernel : result.kernels) {
    const auto& kernels = registry().kernels();
    const bool answers = std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
      return k.name == kernel.id && k.answers_to(request);
    });
    if (answers && kernel.timing.passed()) return &kernel;
  }
  return nullptr;
}

void print_best(const TuneResult& result, const TunedKernel* best) {
  const std::string shape = to_string(result.shape);
  if (best == nullptr) {
    fmt::print("  {:<26} none was timed\n", shape);
    return;
  }
  fmt::print("  {:<26} {:<44} {:>9} {:>9.4g} GFLOP/s\n", shape, best->id,
             format_seconds(best->timing.median_s), gflops(result, *best));
}

Json untimed_json(const std::vector<bench::Untimed>& items) {
  Json json = Json::array();
  for (const bench::Untimed& item : items) {
    json.push_back({{"kernel", item.id}, {"reason", item.reason}});
  }
  return json;
}

Json kernel_json(const TuneResult& result, const TunedKernel& kernel) {
  Json json{{"kernel", kernel.id},
            {"requested", kernel.requested},
            {"measured_now", kernel.measured_now},
            {"disposition", to_string(kernel.timing.disposition)},
            {"date", kernel.timing.date}};
  if (!kernel.timing.passed()) {
    json["detail"] = kernel.detail;
    return json;
  }
  json["median_s"] = kernel.timing.median_s;
  json["noise"] = kernel.timing.noise;
  json["gflops"] = gflops(result, kernel);
  return json;
}

std::string key_text(const bench::DeviceKey& key) {
  return fmt::format("{}{}; {}; commit {}; {}, {}", key.device,
                     key.driver.empty() ? "" : ", driver " + key.driver, key.compiler, key.commit,
                     key.data, key.cache);
}

}  // namespace

void print_tune_case(const TuneResult& result) {
  const auto now = std::count_if(result.kernels.begin(), result.kernels.end(),
                                 [](const TunedKernel& kernel) { return kernel.measured_now; });
  fmt::print("\n{}{}; {} timed now, {} from the cache\n",
             result.what.suite.empty() ? "" : result.what.suite + ": ", to_string(result.shape),
             now, static_cast<std::ptrdiff_t>(result.kernels.size()) - now);
  std::size_t width = 24;
  for (const TunedKernel& kernel : result.kernels) width = std::max(width, kernel.id.size());
  for (const TunedKernel& kernel : result.kernels) {
    if (kernel.timing.passed()) {
      fmt::print("  {:<{}} {:>9} {:>9.4g} GFLOP/s  noise {:.1f}%  {}\n", kernel.id, width,
                 format_seconds(kernel.timing.median_s), gflops(result, kernel),
                 100 * kernel.timing.noise, note(result, kernel));
    } else {
      fmt::print("  {:<{}} {}: {}\n", kernel.id, width, to_string(kernel.timing.disposition),
                 printable(kernel.detail));
    }
  }
  for (const bench::Untimed& item : result.skipped) {
    fmt::print("  {:<{}} skipped: {}\n", item.id, width, item.reason);
  }
  for (const bench::Untimed& item : result.not_reached) {
    fmt::print("  {:<{}} not reached: {}\n", item.id, width, item.reason);
  }
  if (!result.best.empty()) fmt::print("  best {}; {}\n", result.best, auto_text(result));
}

void print_tune_summary(const std::vector<TuneResult>& results,
                        const std::vector<std::string>& requests) {
  if (results.empty()) return;
  if (requests.empty()) {
    fmt::print("\nbest by size\n");
    for (const TuneResult& result : results) print_best(result, result.find(result.best));
  }
  for (const std::string& request : requests) {
    fmt::print("\nbest of {} by size\n", request);
    for (const TuneResult& result : results) print_best(result, best_of(result, request));
  }
}

void print_tune_cache(const bench::TuneCache& cache, const bench::DeviceKey& here) {
  if (cache.entries().empty()) fmt::print("nothing in it\n");
  for (const auto& [key, shapes] : cache.entries()) {
    fmt::print("\n{}\n  {}\n", printable(key_text(key)),
               key == here ? "this program on this device" : "not used here");
    for (const auto& [shape, tuned] : shapes) {
      const std::vector<std::string> ids = tuned.by_merit();
      fmt::print("  {:<26} {}\n", printable(to_string(shape)),
                 ids.empty() ? "no kernel passed"
                             : fmt::format("{:<44} {:>9}  best of {}", printable(ids.front()),
                                           format_seconds(tuned.kernels.at(ids.front()).median_s),
                                           ids.size()));
    }
  }
}

Json tune_json(const TuneResult& result) {
  Json json{{"m", result.shape.m},
            {"n", result.shape.n},
            {"k", result.shape.k},
            {"ops", result.shape.ops},
            {"dtype", to_string(result.shape.dtype)}};
  if (!result.shape.form.empty()) json["form"] = result.shape.form;
  json["best"] = result.best.empty() ? Json(nullptr) : Json(result.best);
  json["winner"] = result.winner.empty() ? Json(nullptr) : Json(result.winner);
  json["auto"] = result.automatic;
  if (auto_ratio(result) > 0) json["auto_time_over_best"] = auto_ratio(result);
  json["seconds_used"] = result.seconds_used;
  json["kernels"] = Json::array();
  for (const TunedKernel& kernel : result.kernels) {
    json["kernels"].push_back(kernel_json(result, kernel));
  }
  json["skipped"] = untimed_json(result.skipped);
  json["not_reached"] = untimed_json(result.not_reached);
  return json;
}

}  // namespace tessera::cli
