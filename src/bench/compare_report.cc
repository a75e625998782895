// A comparison for people and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/compare.h"

namespace tessera::bench {
namespace {

std::string seconds_text(const FileRow& row) {
  if (!row.passed()) return row.disposition_text;
  const double s = *row.median_s;
  if (s >= 1) return fmt::format("{:.3f} s", s);
  if (s >= 1e-3) return fmt::format("{:.3f} ms", s * 1e3);
  return fmt::format("{:.3f} us", s * 1e6);
}

/// "auto", or "auto (a -> b)" when another kernel was chosen.
std::string who_text(const ComparedRow& row) {
  const std::string& now =
      row.new_row.requested.empty() ? row.new_row.kernel : row.new_row.requested;
  if (row.old_row.kernel == row.new_row.kernel) return now;
  const auto known = [](const std::string& id) { return id.empty() ? "none" : id; };
  return fmt::format("{} ({} -> {})", now, known(row.old_row.kernel), known(row.new_row.kernel));
}

std::string table(const std::vector<ComparedRow>& rows) {
  std::size_t what = 4, who = 6;
  for (const ComparedRow& row : rows) {
    what = std::max(what, case_text(row.old_row.what).size());
    who = std::max(who, who_text(row).size());
  }
  std::string out = fmt::format("{:<{}}  {:<5}  {:<{}}  {:>13}  {:>13}  {:>7}\n", "case", what,
                                "cache", "kernel", who, "old", "new", "new/old");
  for (const ComparedRow& row : rows) {
    std::string last = row.disposition_changed() ? row.new_row.detail
                       : row.ratio               ? std::string(to_string(row.verdict))
                                                 : "";
    out += fmt::format("{:<{}}  {:<5}  {:<{}}  {:>13}  {:>13}  {:>7}", case_text(row.old_row.what),
                       what, row.old_row.cache, who_text(row), who, seconds_text(row.old_row),
                       seconds_text(row.new_row),
                       row.ratio ? fmt::format("{:.3f}x", *row.ratio) : "-");
    out += last.empty() ? "\n" : "  " + last + "\n";
  }
  return out;
}

std::string lone_text(const std::vector<FileRow>& rows, const std::string& path) {
  if (rows.empty()) return "";
  std::string out = fmt::format("only in {}:\n", path);
  for (const FileRow& row : rows) {
    out += fmt::format("  {} {} {}: {}\n", case_text(row.what), row.cache, row.name(),
                       seconds_text(row));
  }
  return out;
}

int count(const Comparison& c, Verdict verdict) {
  return static_cast<int>(std::count_if(c.rows.begin(), c.rows.end(), [=](const ComparedRow& row) {
    return row.ratio && row.verdict == verdict;
  }));
}

int changed(const Comparison& c) {
  return static_cast<int>(std::count_if(c.rows.begin(), c.rows.end(), [](const ComparedRow& row) {
    return row.disposition_changed();
  }));
}

std::string mean_text(const char* what, const RatioMean& mean) {
  if (mean.rows == 0) return "";
  return fmt::format("geometric mean of speed new/old, {}: {:.3f}x over {} row{}\n", what,
                     mean.ratio, mean.rows, mean.rows == 1 ? "" : "s");
}

Json row_json(const ComparedRow& row) {
  const Case& what = row.old_row.what;
  Json json{{"case", case_text(what)}, {"m", what.m}, {"n", what.n}, {"k", what.k}};
  json["dtype"] = to_string(what.desc.input_dtype());
  json["suite"] = row.new_row.what.suite;
  json["cache"] = row.old_row.cache;
  json["requested"] = row.new_row.requested;
  json["peer"] = row.old_row.is_peer;
  const auto side = [](const FileRow& r) {
    Json one{{"kernel", r.kernel.empty() ? Json(nullptr) : Json(r.kernel)},
             {"disposition", r.disposition_text}};
    if (r.passed()) one["median_s"] = *r.median_s;
    if (!r.passed() && !r.detail.empty()) one["detail"] = r.detail;
    return one;
  };
  json["old"] = side(row.old_row);
  json["new"] = side(row.new_row);
  json["ratio"] = row.ratio ? Json(*row.ratio) : Json(nullptr);
  json["verdict"] = row.disposition_changed() ? Json("disposition changed")
                    : row.ratio               ? Json(to_string(row.verdict))
                                              : Json(nullptr);
  return json;
}

Json lone_json(const std::vector<FileRow>& rows) {
  Json all = Json::array();
  for (const FileRow& row : rows) {
    all.push_back({{"case", case_text(row.what)},
                   {"cache", row.cache},
                   {"requested", row.requested},
                   {"kernel", row.kernel.empty() ? Json(nullptr) : Json(row.kernel)},
                   {"disposition", row.disposition_text}});
  }
  return all;
}

Json mean_json(const RatioMean& mean) {
  return {{"ratio", mean.rows > 0 ? Json(mean.ratio) : Json(nullptr)}, {"rows", mean.rows}};
}

}  // namespace

std::string comparison_text(const Comparison& c) {
  std::string out = fmt::format("old: {}\nnew: {}\n", c.old_text, c.new_text);
  for (const std::string& warning : c.warnings) out += "warning: " + warning + "\n";
  if (!c.rows.empty()) out += table(c.rows);
  out += lone_text(c.only_old, c.old_path) + lone_text(c.only_new, c.new_path);
  if (c.rows.empty()) out += "no case, cache state and kernel stand in both files\n";
  out += fmt::format("{} slower, {} faster, {} same, {} with another disposition\n",
                     count(c, Verdict::kSlower), count(c, Verdict::kFaster),
                     count(c, Verdict::kSame), changed(c));
  out += mean_text("kernels", c.kernels);
  return out + mean_text("peers (the machine itself)", c.peers);
}

Json comparison_json(const Comparison& c) {
  Json json{{"old", c.old_path}, {"new", c.new_path}, {"warnings", c.warnings}};
  json["slower"] = count(c, Verdict::kSlower);
  json["faster"] = count(c, Verdict::kFaster);
  json["same"] = count(c, Verdict::kSame);
  json["disposition_changed"] = changed(c);
  json["passed_then_incorrect"] = c.broken;
  json["geomean"] = mean_json(c.kernels);
  json["geomean_peers"] = mean_json(c.peers);
  json["rows"] = Json::array();
  for (const ComparedRow& row : c.rows) json["rows"].push_back(row_json(row));
  json["only_old"] = lone_json(c.only_old);
  json["only_new"] = lone_json(c.only_new);
  return json;
}

}  // namespace tessera::bench
