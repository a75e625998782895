// Two runs beside each other: what became faster, what slower, and whether they may be compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/results_file.h"

namespace tessera::bench {

enum class Verdict { kSlower, kFaster, kSame };
std::string_view to_string(Verdict verdict);

/// The same case, cache state and request in both files.
struct ComparedRow {
  FileRow old_row, new_row;
  std::optional<double> ratio;  ///< speed of new over old; only when both passed
  Verdict verdict = Verdict::kSame;
  bool disposition_changed() const { return old_row.disposition != new_row.disposition; }
};

struct RatioMean {
  double ratio = 1;  ///< geometric mean
  int rows = 0;
};

struct Comparison {
  std::string old_path, new_path;
  std::string old_text, new_text;  ///< date, version, commit, device
  std::vector<std::string> warnings;
  std::vector<ComparedRow> rows;  ///< changed dispositions, then slower, faster, same, then untimed
  std::vector<FileRow> only_old, only_new;
  RatioMean kernels;
  RatioMean peers;  ///< other people's code: how far the machine itself changed
  /// Rows that had passed and are now incorrect.
  int broken = 0;
};

/// A row is faster or slower when the ranges median * (1 -+ noise) of the two runs do not meet
/// (fastest to slowest sample where a file has no noise) and the medians differ by 1 % or more:
/// within a run nothing shows how far clocks differ from one run to the next.
Comparison compare_results(const ResultsFile& old_file, const ResultsFile& new_file);

/// For people: warnings, table, rows of one file only, means.
std::string comparison_text(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);

}  // namespace tessera::bench
