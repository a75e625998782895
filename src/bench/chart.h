// Charts of a results file, as scripts for gnuplot.
#pragma once

#include <string>
#include <vector>

#include "bench/results_file.h"

namespace tessera::bench {

enum class Theme { kLight, kDark };
enum class ImageFormat { kSvg, kPng };

struct Chart {
  std::string name;  ///< of the file, without suffix: "roofline"
  std::string alt;   ///< what it shows, for who cannot see it
  int width = 0, height = 0;
  /// Commands of gnuplot that leave colours to variables: they hold in both themes.
  std::string body;
};

struct Charts {
  std::vector<Chart> charts;
  std::vector<std::string> left_out;  ///< one line each, with the reason
};

/// Roofline, ladder and speed over peers, each for every element type and cache state there is.
Charts charts_of(const ResultsFile& file);

/// The whole script; the image goes to the standard output of gnuplot.
std::string chart_script(const Chart& chart, Theme theme, ImageFormat format);

}  // namespace tessera::bench
