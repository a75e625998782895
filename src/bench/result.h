// What a run of `tessera bench` found, and its JSON: one schema for bench, ladder, tune and report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/case.h"
#include "bench/gpu.h"

namespace tessera::bench {

using Json = nlohmann::ordered_json;

/// A speed stands only beside kPassed.
enum class Disposition {
  kPassed,
  kIncorrect,     ///< the product was wrong, or an input was changed
  kFailed,        ///< it threw or could not be launched
  kNotSupported,  ///< it cannot take the case
  kImplausible,   ///< faster than the peaks measured in the same run
};
std::string_view to_string(Disposition disposition);
std::optional<Disposition> parse_disposition(std::string_view text);

enum class CacheState { kWarm, kCold };
std::string_view to_string(CacheState state);

struct Row {
  Case what;
  CacheState cache = CacheState::kWarm;
  std::string requested;  ///< as named: "auto", a kernel's id, a peer's name
  std::string kernel;     ///< id of the kernel; empty for a peer
  bool is_peer = false;
  Disposition disposition = Disposition::kFailed;
  std::string detail;           ///< why, unless passed
  std::vector<double> seconds;  ///< of one product, per sample
  int products_per_sample = 1;
  std::int64_t sets = 1;             ///< operand sets that the products took in turn
  std::string timer;                 ///< "steady clock", "events", "graph replay"
  double worst_ratio = 0;            ///< largest error found over the bound it must keep; at most 1
  std::vector<std::string> remarks;  ///< noisy, clock dropped, ...
  std::vector<gpu::Launch> launches;                     ///< of one product
  std::vector<std::pair<std::string, double>> counters;  ///< measured, by name
  std::vector<std::pair<std::string, double>> analytic;  ///< counted from the algorithm

  double median_s() const;
  double min_s() const;
  double max_s() const;
  /// Half the distance between the quartiles over the median.
  double noise() const;
};

}  // namespace tessera::bench
