// What the charts share: text that is safe in a script, series and their order, axes.
#pragma once

#include <string>
#include <vector>

#include "bench/chart.h"

namespace tessera::bench {

/// A string literal of gnuplot. Backquotes and whatever else could mean something there are
/// replaced: the texts come from a file, and gnuplot runs commands in backquotes.
std::string gp_text(const std::string& text);
/// At most `most` characters, with an ellipsis in the middle.
std::string shortened(const std::string& text, std::size_t most);
/// Characters, not bytes.
std::size_t length_of(const std::string& text);

/// "4096^3" with a raised 3 for squares, else case_text.
std::string short_case(const Case& c);

/// One kernel family or peer, in one colour in all charts of a file.
struct Series {
  std::string name;  ///< "k06 warp_tiled", "cublas"
  bool is_peer = false;
  int colour = 0;  ///< c0 ... c11, or p0 ... p3 for peers
};
std::string colour_of(const Series& series);
/// Shape of its points, as gnuplot numbers them.
int point_type_of(const Series& series);

/// Name of the series that a row belongs to.
std::string series_name(const FileRow& row);
/// Rungs in their order, other families, then peers.
std::vector<Series> series_of(const ResultsFile& file);
/// File stems of the kernels of this version: "k01_naive", ...
const std::vector<std::string>& kernel_stems();

/// Rows of one element type and cache state.
struct Slice {
  std::string dtype, cache;
  std::string suffix;  ///< of chart names: "" for the first slice, else such as "-cold"
  std::vector<const FileRow*> passed;
};
std::vector<Slice> slices_of(const ResultsFile& file);

/// "NVIDIA H200, f32, warm caches; 2026-11-30, commit 0123456789ab"
std::string subtitle(const ResultsFile& file, const Slice& slice);
/// Title and subtitle in the top left corner of a chart.
std::string heading(const Chart& chart, const std::string& title, const std::string& subtitle);

/// Distances of the plot from the edges of its chart, in pixels.
struct Margins {
  int left = 0, right = 0, top = 0, bottom = 0;
};
/// Places the plot and names its axes; "" is no name. Names stand at fixed places: those that
/// gnuplot chooses fall off the edge in one terminal or another.
std::string frame(const Chart& chart, const Margins& margins, const std::string& x_name,
                  const std::string& y_name);

/// "set xtics (...)" over a logarithmic axis, from and to included.
std::string log_tics(char axis, double from, double to);
/// The next smaller or larger of 1, 2, 5 times a power of ten.
double step_down(double value);
double step_up(double value);

/// Speeds are shown in TFLOP/s where the largest is 1000 GFLOP/s or more.
struct SpeedUnit {
  double gflops = 1;
  const char* name = "GFLOP/s";
};
SpeedUnit speed_unit(double largest_gflops);
std::string speed_text(double gflops, const SpeedUnit& unit);

/// A ceiling of speed, with the name it has in legends.
struct Roof {
  std::string name;
  double gflops = 0;
};
/// Multiply-adds in registers, and fed from shared memory, for an element type.
std::vector<Roof> compute_roofs(const FilePeaks& peaks, const std::string& dtype);

void add_rooflines(const ResultsFile& file, const std::vector<Series>& series, Charts& out);
void add_ladders(const ResultsFile& file, const std::vector<Series>& series, Charts& out);
void add_speedups(const ResultsFile& file, Charts& out);

}  // namespace tessera::bench
