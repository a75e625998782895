// A whole run: rows, the device's peaks, who was there and what was left out; as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/clocks.h"
#include "bench/product.h"
#include "bench/roofline.h"

namespace tessera::bench {

/// Something asked for that did not happen.
struct LeftOut {
  std::string what;
  int exit_code = 0;  ///< that this alone would give the run
};

/// The range a GPU's clocks were seen in.
struct ClockRange {
  std::string unavailable;
  int start_mhz = 0, lowest_mhz = 0, end_mhz = 0, max_mhz = 0;
  double highest_power_w = 0;
  int highest_temperature_c = 0;
  std::vector<std::string> throttled;

  /// Takes in a sample, under load.
  void add(const ClockSample& sample);
};

struct RunReport {
  Json head;  ///< command, date, device, provenance, conditions
  Roofs roofs;
  bool has_clocks = false;
  ClockRange clocks;
  std::vector<PeerInfo> peers;
  std::vector<std::string> absent_peers;
  std::vector<Row> rows;
  std::vector<LeftOut> left_out;
};

/// Speed of `row` over that of the peer on the same case and cache state; 0 where either has none.
double ratio_to(const RunReport& report, const Row& row, const std::string& peer);

/// Geometric mean over the passed rows of one request in one suite and cache state.
struct Mean {
  std::string suite, requested;
  CacheState cache = CacheState::kWarm;
  int cases = 0;
  double of_roofline = 0;
  std::vector<std::pair<std::string, double>> ratios;  ///< to each peer, over the cases both passed
};
std::vector<Mean> geometric_means(const RunReport& report);

Json row_json(const RunReport& report, const Row& row);
/// Head, peaks, clocks, peers, results, geomeans, left_out.
Json report_json(const RunReport& report);

}  // namespace tessera::bench
