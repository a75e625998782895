#include "bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace tessera::bench {
namespace {

constexpr double kSmallestDifference = 0.01;

using Key = std::function<std::string(const FileRow&)>;

std::string base_key(const FileRow& row) {
  // case_text leaves out what is plain, which is the same on both sides.
  return case_text(row.what) + "|" + row.cache + "|" + (row.is_peer ? "peer" : "kernel");
}

/// Rows of both sides that are not paired yet.
struct Loose {
  std::vector<const FileRow*> old_rows, new_rows;
};

using Sides = std::pair<std::vector<std::size_t>, std::vector<std::size_t>>;

/// Pairs rows of equal key, in order; with `only_single`, where each side has just one.
void pair_by(const Key& key, bool only_single, Loose& loose, std::vector<ComparedRow>& paired) {
  std::map<std::string, Sides> groups;
  for (std::size_t i = 0; i < loose.old_rows.size(); ++i) {
    groups[key(*loose.old_rows[i])].first.push_back(i);
  }
  for (std::size_t i = 0; i < loose.new_rows.size(); ++i) {
    groups[key(*loose.new_rows[i])].second.push_back(i);
  }
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const auto& [unused, sides] : groups) {
    const auto& [olds, news] = sides;
    if (only_single && (olds.size() != 1 || news.size() != 1)) continue;
    for (std::size_t i = 0; i < std::min(olds.size(), news.size()); ++i) {
      found.emplace_back(olds[i], news[i]);
    }
  }
  std::sort(found.begin(), found.end());  // the order of the old file
  for (const auto& [i, j] : found) {
    ComparedRow pair;
    pair.old_row = *loose.old_rows[i];
    pair.new_row = *loose.new_rows[j];
    paired.push_back(std::move(pair));
    loose.old_rows[i] = loose.new_rows[j] = nullptr;
  }
  std::erase(loose.old_rows, nullptr);
  std::erase(loose.new_rows, nullptr);
}

/// The strictest likeness first: a case may stand in several suites, `auto` may have chosen another
/// kernel, and a kernel may have been named in another way.
std::vector<ComparedRow> pair_rows(Loose& loose) {
  const auto request = [](const FileRow& r) { return base_key(r) + "|" + r.requested; };
  const auto exact = [=](const FileRow& r) { return request(r) + "|" + r.kernel; };
  std::vector<ComparedRow> paired;
  pair_by([=](const FileRow& r) { return exact(r) + "|" + r.what.suite; }, false, loose, paired);
  pair_by(exact, false, loose, paired);
  pair_by(request, true, loose, paired);
  pair_by([](const FileRow& r) { return base_key(r) + "|" + r.name(); }, true, loose, paired);
  return paired;
}

struct Range {
  double low = 0, high = 0;
};

Range range_of(const FileRow& row) {
  const double median = *row.median_s;
  if (row.noise) return {median * (1 - *row.noise), median * (1 + *row.noise)};
  return {row.min_s.value_or(median), row.max_s.value_or(median)};
}

void judge(ComparedRow& row) {
  if (!row.old_row.passed() || !row.new_row.passed()) return;
  row.ratio = *row.old_row.median_s / *row.new_row.median_s;
  const Range before = range_of(row.old_row), after = range_of(row.new_row);
  if (std::abs(*row.ratio - 1) < kSmallestDifference) return;
  if (after.high < before.low) row.verdict = Verdict::kFaster;
  if (before.high < after.low) row.verdict = Verdict::kSlower;
}

int rank(const ComparedRow& row) {
  if (row.disposition_changed()) return row.new_row.disposition == Disposition::kIncorrect ? 0 : 1;
  return row.ratio ? 2 + static_cast<int>(row.verdict) : 9;
}

RatioMean mean_of(const std::vector<ComparedRow>& rows, bool peers) {
  RatioMean mean;
  double logarithms = 0;
  for (const ComparedRow& row : rows) {
    if (!row.ratio || row.old_row.is_peer != peers) continue;
    logarithms += std::log(*row.ratio);
    ++mean.rows;
  }
  if (mean.rows > 0) mean.ratio = std::exp(logarithms / mean.rows);
  return mean;
}

struct Condition {
  const char* name;
  std::string old_value, new_value;
};

std::vector<Condition> conditions(const ResultsFile& a, const ResultsFile& b) {
  const auto both = [&](const char* name, const Facts ResultsFile::*facts, const char* key) {
    return Condition{name, fact(a.*facts, key), fact(b.*facts, key)};
  };
  std::vector<Condition> all = {{"device", a.device_name, b.device_name},
                                both("driver", &ResultsFile::device, "driver"),
                                both("CUDA runtime", &ResultsFile::device, "cuda_runtime"),
                                both("instruction set", &ResultsFile::device, "simd"),
                                both("threads", &ResultsFile::device, "threads"),
                                both("data", &ResultsFile::conditions, "data"),
                                both("seconds", &ResultsFile::conditions, "seconds"),
                                both("compiler", &ResultsFile::provenance, "compiler"),
                                both("build type", &ResultsFile::provenance, "build_type"),
                                both("CUDA build", &ResultsFile::provenance, "cuda_build")};
  return all;
}

std::vector<std::string> warnings_of(const ResultsFile& a, const ResultsFile& b) {
  std::vector<std::string> warnings;
  std::string unknown_old, unknown_new;
  for (const Condition& c : conditions(a, b)) {
    if (c.old_value == c.new_value) continue;
    if (c.old_value.empty() || c.new_value.empty()) {
      std::string& list = c.old_value.empty() ? unknown_old : unknown_new;
      list += (list.empty() ? "" : ", ") + std::string(c.name);
    } else {
      warnings.push_back(fmt::format("{} differs: {}, then {}", c.name, c.old_value, c.new_value));
    }
  }
  if (!unknown_old.empty()) warnings.push_back(a.path + " does not say: " + unknown_old);
  if (!unknown_new.empty()) warnings.push_back(b.path + " does not say: " + unknown_new);
  for (const ResultsFile* file : {&a, &b}) {
    const std::string slow = fact(file->provenance, "slow_build");
    if (!slow.empty()) warnings.push_back(file->path + ": " + slow + ": times mean little");
  }
  return warnings;
}

std::string run_text(const ResultsFile& file) {
  std::string text = file.path;
  for (const std::string& part : {file.date, fact(file.provenance, "version"),
                                  fact(file.provenance, "commit"), file.device_name}) {
    if (!part.empty()) text += ", " + part;
  }
  return text;
}

std::vector<const FileRow*> all_rows(const ResultsFile& file) {
  std::vector<const FileRow*> rows;
  for (const auto* side : {&file.rows, &file.cpu_rows}) {
    for (const FileRow& row : *side) rows.push_back(&row);
  }
  return rows;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSlower:
      return "slower";
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSame:
      break;
  }
  return "same";
}

Comparison compare_results(const ResultsFile& old_file, const ResultsFile& new_file) {
  Comparison out;
  out.old_path = old_file.path;
  out.new_path = new_file.path;
  out.old_text = run_text(old_file);
  out.new_text = run_text(new_file);
  out.warnings = warnings_of(old_file, new_file);
  Loose loose{all_rows(old_file), all_rows(new_file)};
  out.rows = pair_rows(loose);
  for (ComparedRow& row : out.rows) {
    judge(row);
    out.broken += row.old_row.passed() && row.new_row.disposition == Disposition::kIncorrect;
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const ComparedRow& a, const ComparedRow& b) { return rank(a) < rank(b); });
  for (const FileRow* row : loose.old_rows) out.only_old.push_back(*row);
  for (const FileRow* row : loose.new_rows) out.only_new.push_back(*row);
  out.kernels = mean_of(out.rows, false);
  out.peers = mean_of(out.rows, true);
  return out;
}

}  // namespace tessera::bench
