// How much an answer loads from global memory, beside the rungs that it stands between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simt/report/report.h"

namespace tessera::simt {

/// Elements of A and B that all threads of a product load.
struct RungLoads {
  std::string name;  ///< "k02_tiled"; of the answer itself, its file's name
  double loads = 0;
  double reuse = 0;     ///< 2MNK / loads: how often an element is used once it is loaded
  bool counted = true;  ///< else by theory
};

struct LoadComparison {
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<RungLoads> rows;  ///< the answer, then the rungs
  std::string text;             ///< one sentence
};

/// From the counts of a run on whole tiles; nothing when the answer loads nothing.
std::optional<LoadComparison> compare_loads(const Report& report);

std::string to_text(const LoadComparison& comparison);
Json to_json(const LoadComparison& comparison);

}  // namespace tessera::simt
