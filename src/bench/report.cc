#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

namespace tessera::bench {
namespace {

/// The text does not name batch strides: of a shared operand and of members of their own.
bool same_strides(const GemmDesc& x, const GemmDesc& y) {
  return x.a.batch_stride == y.a.batch_stride && x.b.batch_stride == y.b.batch_stride &&
         x.c.batch_stride == y.c.batch_stride;
}

bool same_case(const Row& x, const Row& y) {
  return x.cache == y.cache && x.what.suite == y.what.suite &&
         case_text(x.what) == case_text(y.what) && same_strides(x.what.desc, y.what.desc);
}

const char* word(Layout layout) { return layout == Layout::kRowMajor ? "row" : "col"; }

Json pairs_json(const std::vector<std::pair<std::string, double>>& pairs) {
  Json json = Json::object();
  for (const auto& [name, value] : pairs) json[name] = value;
  return json;
}

void set_if(Json& json, const char* name, double value) {
  if (value > 0) json[name] = value;
}

Json case_json(const Case& c) {
  const GemmDesc& d = c.desc;
  Json json;
  if (!c.suite.empty()) json["suite"] = c.suite;
  json["m"] = c.m;
  json["n"] = c.n;
  json["k"] = c.k;
  json["op_a"] = std::string(1, letter(d.op_a));
  json["op_b"] = std::string(1, letter(d.op_b));
  json["dtype"] = to_string(d.input_dtype());
  json["lda"] = d.a.ld;
  json["ldb"] = d.b.ld;
  json["ldc"] = d.c.ld;
  json["layouts"] = std::string(word(d.a.layout)) + " " + word(d.b.layout) + " " + word(d.c.layout);
  json["batch"] = d.batch;
  json["alpha"] = c.alpha;
  json["beta"] = c.beta;
  if (c.calls != 1) json["calls"] = c.calls;
  return json;
}

Json launch_json(const gpu::Launch& l) {
  return {{"function", l.function},
          {"grid", l.grid},
          {"block", l.block},
          {"registers", l.registers},
          {"local_bytes", l.local_bytes},
          {"shared_bytes", l.shared_bytes},
          {"blocks_per_sm", l.blocks_per_sm},
          {"occupancy", l.occupancy}};
}

Json roofs_json(const Roofs& r) {
  Json json = Json::object();
  set_if(json, "fma_gflops", r.fma_gflops);
  set_if(json, "fma_f64_gflops", r.fma_f64_gflops);
  set_if(json, "outer_product_gflops", r.outer_product_gflops);
  set_if(json, "shared_gbps", r.shared_gbps);
  set_if(json, "l2_gbps", r.l2_gbps);
  set_if(json, "l3_gbps", r.l3_gbps);
  set_if(json, "memory_gbps", r.memory_gbps);
  set_if(json, "l2_bytes", r.l2_bytes);
  set_if(json, "l3_bytes", r.l3_bytes);
  return json;
}

Json clocks_json(const ClockRange& c) {
  if (!c.unavailable.empty()) return {{"unavailable", c.unavailable}};
  return {{"sm_mhz_start", c.start_mhz},
          {"sm_mhz_lowest", c.lowest_mhz},
          {"sm_mhz_end", c.end_mhz},
          {"max_sm_mhz", c.max_mhz},
          {"power_w_highest", c.highest_power_w},
          {"temperature_c_highest", c.highest_temperature_c},
          {"throttled", c.throttled}};
}

/// Collects logarithms.
struct GeometricMean {
  double sum = 0;
  int count = 0;
  void add(double x) {
    if (x <= 0) return;
    sum += std::log(x);
    ++count;
  }
  double value() const { return count == 0 ? 0 : std::exp(sum / count); }
};

}  // namespace

void ClockRange::add(const ClockSample& sample) {
  if (start_mhz == 0) start_mhz = lowest_mhz = sample.sm_mhz;
  lowest_mhz = std::min(lowest_mhz, sample.sm_mhz);
  end_mhz = sample.sm_mhz;
  max_mhz = sample.max_sm_mhz;
  highest_power_w = std::max(highest_power_w, sample.power_w);
  highest_temperature_c = std::max(highest_temperature_c, sample.temperature_c);
  for (const std::string& reason : sample.throttled) {
    if (std::find(throttled.begin(), throttled.end(), reason) == throttled.end()) {
      throttled.push_back(reason);
    }
  }
}

double ratio_to(const RunReport& report, const Row& row, const std::string& peer) {
  if (row.disposition != Disposition::kPassed) return 0;
  for (const Row& other : report.rows) {
    if (other.is_peer && other.requested == peer && same_case(other, row) &&
        other.disposition == Disposition::kPassed) {
      return other.median_s() / row.median_s();
    }
  }
  return 0;
}

std::vector<Mean> geometric_means(const RunReport& report) {
  std::vector<Mean> means;
  for (const Row& row : report.rows) {
    const bool known = std::any_of(means.begin(), means.end(), [&](const Mean& m) {
      return m.suite == row.what.suite && m.requested == row.requested && m.cache == row.cache;
    });
    if (!known) means.push_back({row.what.suite, row.requested, row.cache, 0, 0, {}});
  }
  for (Mean& mean : means) {
    GeometricMean roofline;
    std::vector<GeometricMean> ratios(report.peers.size());
    for (const Row& row : report.rows) {
      if (row.what.suite != mean.suite || row.requested != mean.requested ||
          row.cache != mean.cache || row.disposition != Disposition::kPassed) {
        continue;
      }
      roofline.add(bound_of(row.what, row.cache, report.roofs).seconds / row.median_s());
      for (std::size_t i = 0; i < ratios.size(); ++i) {
        ratios[i].add(ratio_to(report, row, report.peers[i].name));
      }
    }
    mean.cases = roofline.count;
    mean.of_roofline = roofline.value();
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      if (ratios[i].count > 0 && report.peers[i].name != mean.requested) {
        mean.ratios.emplace_back(report.peers[i].name, ratios[i].value());
      }
    }
  }
  std::erase_if(means, [](const Mean& m) { return m.cases == 0; });
  return means;
}

Json row_json(const RunReport& report, const Row& row) {
  Json json = case_json(row.what);
  json["cache"] = to_string(row.cache);
  json["sets"] = row.sets;
  json["requested"] = row.requested;
  json["kernel"] = row.kernel.empty() ? Json(nullptr) : Json(row.kernel);
  json["peer"] = row.is_peer;
  json["disposition"] = to_string(row.disposition);
  if (row.disposition != Disposition::kPassed) {
    json["detail"] = row.detail;
    return json;
  }
  const double median = row.median_s(), gflops = flops_of(row.what) / median / 1e9;
  json["median_s"] = median;
  json["min_s"] = row.min_s();
  json["max_s"] = row.max_s();
  json["noise"] = row.noise();
  json["samples"] = row.seconds.size();
  json["products_per_sample"] = row.products_per_sample;
  json["timer"] = row.timer;
  json["gflops"] = gflops;
  json["gbps"] = bytes_of(row.what) / median / 1e9;
  const double peak = report.roofs.fma(row.what.desc.dtype);
  if (peak > 0) json["of_fma_peak"] = gflops / peak;
  const Bound bound = bound_of(row.what, row.cache, report.roofs);
  if (bound.seconds > 0) {
    json["roofline_s"] = bound.seconds;
    json["of_roofline"] = bound.seconds / median;
    json["bound"] = bound.by;
  }
  json["error_ratio"] = row.worst_ratio;
  Json ratios = Json::object();
  for (const PeerInfo& peer : report.peers) {
    const double ratio = ratio_to(report, row, peer.name);
    if (ratio > 0 && peer.name != row.requested) ratios[peer.name] = ratio;
  }
  if (!ratios.empty()) json["ratio_to"] = ratios;
  if (!row.remarks.empty()) json["remarks"] = row.remarks;
  for (const gpu::Launch& launch : row.launches) json["launches"].push_back(launch_json(launch));
  if (!row.counters.empty()) json["counters"] = pairs_json(row.counters);
  if (!row.analytic.empty()) json["analytic"] = pairs_json(row.analytic);
  return json;
}

Json report_json(const RunReport& report) {
  Json json = report.head;
  json["peaks"] = roofs_json(report.roofs);
  if (report.has_clocks) json["clocks"] = clocks_json(report.clocks);
  json["peers"] = Json::array();
  for (const PeerInfo& peer : report.peers) {
    json["peers"].push_back({{"name", peer.name},
                             {"version", peer.version},
                             {"library", peer.library},
                             {"notes", peer.notes}});
  }
  json["absent_peers"] = report.absent_peers;
  json["results"] = Json::array();
  for (const Row& row : report.rows) json["results"].push_back(row_json(report, row));
  json["geomeans"] = Json::array();
  for (const Mean& mean : geometric_means(report)) {
    json["geomeans"].push_back({{"suite", mean.suite},
                                {"cache", to_string(mean.cache)},
                                {"requested", mean.requested},
                                {"cases", mean.cases},
                                {"of_roofline", mean.of_roofline},
                                {"ratio_to", pairs_json(mean.ratios)}});
  }
  json["left_out"] = Json::array();
  for (const LeftOut& item : report.left_out) json["left_out"].push_back(item.what);
  return json;
}

}  // namespace tessera::bench
