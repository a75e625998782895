// The page of `tessera report`: one file with everything in it.
#pragma once

#include <string>
#include <vector>

#include "bench/results_file.h"

namespace tessera::cli {

struct DrawnChart {
  std::string name, alt;
  int width = 0, height = 0;
  std::string svg_light, svg_dark;
};

/// What the page says of one results file.
struct ReportSection {
  bench::ResultsFile file;
  std::vector<DrawnChart> charts;
  std::vector<std::string> notes;  ///< charts left out, and why
};

/// HTML without scripts and without references outside itself. All text of the files is escaped.
std::string report_page(const std::vector<ReportSection>& sections, const std::string& program);

}  // namespace tessera::cli
