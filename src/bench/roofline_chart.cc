// Speed against floating-point operations for each byte, under the ceilings measured in the run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/chart_parts.h"

namespace tessera::bench {
namespace {

constexpr int kWidth = 1040, kHeight = 620;
constexpr int kLeft = 90, kRight = 310, kTop = 70, kBottom = 62;  // margins
constexpr int kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

/// Pixels from the lower left corner of the plot.
struct Box {
  double left, bottom, right, top;
  bool meets(const Box& b) const {
    return left < b.right && b.left < right && bottom < b.top && b.bottom < top;
  }
};

/// A logarithmic axis.
struct Axis {
  double from, to;
  double part(double value) const { return std::log(value / from) / std::log(to / from); }
};

struct Slope {
  std::string name;
  double gbps;
};

struct Plot {
  SpeedUnit unit;
  bool literature = false;  ///< GPUs of the literature beside
  Axis x{1, 10}, y{1, 10};
  std::vector<Roof> roofs;
  std::vector<Slope> slopes;
  double pixel_x(double intensity) const { return x.part(intensity) * kPlotWidth; }
  double pixel_y(double gflops) const { return y.part(gflops) * kPlotHeight; }
};

/// A GPU of the literature, for scale.
struct Reference {
  const char* name;
  double gflops, gbps;
};
// NVIDIA's data sheets: V100 SXM2 (2017), A100 80 GB SXM (2020); FP32 outside tensor cores.
constexpr Reference kLiterature[] = {{"V100: 15.7 TFLOP/s, 0.9 TB/s", 15700, 900},
                                     {"A100: 19.5 TFLOP/s, 2.0 TB/s", 19500, 2000}};

std::string bandwidth_text(double gbps) {
  return gbps >= 1000 ? fmt::format("{:.2f} TB/s", gbps / 1000)
                      : fmt::format("{:.{}f} GB/s", gbps, gbps < 100 ? 1 : 0);
}

Plot plan(const Slice& slice, const FilePeaks& peaks, bool literature) {
  Plot plot;
  plot.literature = literature;
  plot.roofs = compute_roofs(peaks, slice.dtype);
  const double roof = plot.roofs.front().gflops;
  if (peaks.l2_gbps) plot.slopes.push_back({"L2", *peaks.l2_gbps});
  plot.slopes.push_back({"Memory", *peaks.memory_gbps});
  double low_x = roof / *peaks.memory_gbps, high_x = low_x, low_y = roof, high_y = roof;
  const auto include = [&](double intensity, double gflops) {
    low_x = std::min(low_x, intensity);
    high_x = std::max(high_x, intensity);
    low_y = std::min(low_y, gflops);
    high_y = std::max(high_y, gflops);
  };
  for (const FileRow* row : slice.passed) include(row->intensity(), row->gflops());
  if (literature) {
    for (const Reference& r : kLiterature) include(r.gflops / r.gbps, r.gflops);
  }
  // A hair wider than the outer tics: gnuplot drops one that rounding puts outside.
  plot.x = {0.999 * step_down(low_x / 1.6), 1.001 * step_up(high_x * 1.6)};
  plot.y = {0.999 * step_down(low_y / 1.5), 1.001 * step_up(high_y * 1.5)};
  plot.unit = speed_unit(roof);
  return plot;
}

std::string axes(const Plot& plot, const Chart& chart) {
  const double unit = plot.unit.gflops;
  return frame(chart, {kLeft, kRight, kTop, kBottom}, "FLOP for each byte of A, B and C moved once",
               plot.unit.name) +
         fmt::format(
             "set logscale xy\nset xrange [{:.9g}:{:.9g}]\nset yrange [{:.9g}:{:.9g}]\n"
             "set key at screen {:.4f}, screen {:.4f} left top Left reverse samplen 2.2 "
             "spacing 1.15 font f12\n",
             plot.x.from, plot.x.to, plot.y.from / unit, plot.y.to / unit,
             1 - (kRight - 12.0) / chart.width, 1 - (kTop - 6.0) / chart.height) +
         log_tics('x', plot.x.from, plot.x.to) +
         log_tics('y', plot.y.from / unit, plot.y.to / unit);
}

/// A ceiling as two points in a data block, cut to the plot.
std::string line_block(const Plot& plot, const std::string& name, double x0, double y0, double x1,
                       double y1) {
  return fmt::format("${} << EOD\n{:g} {:g}\n{:g} {:g}\nEOD\n", name, x0, y0 / plot.unit.gflops, x1,
                     y1 / plot.unit.gflops);
}

struct Lines {
  std::string blocks;
  std::vector<std::string> plots;
};

void add_slope(const Plot& plot, const std::string& block, double gbps, double roof,
               const std::string& style, const std::string& title, Lines& lines) {
  const double from = std::max(plot.x.from, plot.y.from / gbps);
  const double to = std::min(plot.x.to, roof / gbps);
  if (from >= to) return;
  lines.blocks += line_block(plot, block, from, from * gbps, to, to * gbps);
  lines.plots.push_back(fmt::format("${} with lines {} title {}", block, style,
                                    title.empty() ? "''" : gp_text(title)));
}

Lines measured_lines(const Plot& plot) {
  Lines lines;
  for (std::size_t i = 0; i < plot.roofs.size(); ++i) {
    const Roof& roof = plot.roofs[i];
    // From where the steepest slope meets it.
    const double from = std::clamp(roof.gflops / plot.slopes.front().gbps, plot.x.from, plot.x.to);
    const std::string block = fmt::format("roof{}", i);
    lines.blocks += line_block(plot, block, from, roof.gflops, plot.x.to, roof.gflops);
    lines.plots.push_back(
        fmt::format("${} with lines linecolor rgb roof linewidth 1.6 dashtype {} title {}", block,
                    i == 0 ? "1" : "(12,6)",
                    gp_text(fmt::format("{}: {} {}", roof.name, speed_text(roof.gflops, plot.unit),
                                        plot.unit.name))));
  }
  for (std::size_t i = 0; i < plot.slopes.size(); ++i) {
    const Slope& slope = plot.slopes[i];
    const bool memory = i + 1 == plot.slopes.size();
    add_slope(plot, fmt::format("slope{}", i), slope.gbps, plot.roofs.front().gflops,
              fmt::format("linecolor rgb roof linewidth 1.6 dashtype {}", memory ? "1" : "(3,4)"),
              fmt::format("{}: {}", slope.name, bandwidth_text(slope.gbps)), lines);
  }
  return lines;
}

void add_literature(const Plot& plot, Lines& lines) {
  const char* dashes[] = {"(2,4)", "(8,4,2,4)"};
  int number = 0;
  for (const Reference& r : kLiterature) {
    const std::string style =
        fmt::format("linecolor rgb soft linewidth 1 dashtype {}", dashes[number]);
    add_slope(plot, fmt::format("past{}", number), r.gbps, r.gflops, style, r.name, lines);
    const double from = std::max(plot.x.from, r.gflops / r.gbps);
    const std::string block = fmt::format("pastroof{}", number++);
    lines.blocks += line_block(plot, block, from, r.gflops, plot.x.to, r.gflops);
    lines.plots.push_back(fmt::format("${} with lines {} title ''", block, style));
  }
}

void add_points(const Plot& plot, const Slice& slice, const std::vector<Series>& series,
                Lines& lines) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::string block;
    for (const FileRow* row : slice.passed) {
      if (series_name(*row) != series[i].name || row->is_peer != series[i].is_peer) continue;
      block += fmt::format("{:g} {:g}\n", row->intensity(), row->gflops() / plot.unit.gflops);
    }
    if (block.empty()) continue;
    lines.blocks += fmt::format("$points{} << EOD\n{}EOD\n", i, block);
    lines.plots.push_back(
        fmt::format("$points{} with points pointtype {} pointsize {}*dot linewidth 1.5 linecolor "
                    "rgb {} title {}",
                    i, point_type_of(series[i]), series[i].is_peer ? "0.9" : "0.75",
                    colour_of(series[i]), gp_text(shortened(series[i].name, 30))));
  }
}

/// Where text must not be: points, and the ceilings as chains of small boxes.
std::vector<Box> obstacles(const Plot& plot, const Slice& slice) {
  constexpr double kPoint = 6, kStep = 8;
  std::vector<Box> taken;
  for (const FileRow* row : slice.passed) {
    const double x = plot.pixel_x(row->intensity()), y = plot.pixel_y(row->gflops());
    taken.push_back({x - kPoint, y - kPoint, x + kPoint, y + kPoint});
  }
  std::vector<std::pair<double, double>> ceilings;  // GFLOP/s and GB/s
  for (const Roof& roof : plot.roofs) ceilings.emplace_back(roof.gflops, plot.slopes.front().gbps);
  for (const Slope& slope : plot.slopes) {
    ceilings.emplace_back(plot.roofs.front().gflops, slope.gbps);
  }
  if (plot.literature) {
    for (const Reference& r : kLiterature) ceilings.emplace_back(r.gflops, r.gbps);
  }
  for (const auto& [gflops, gbps] : ceilings) {
    for (double x = 0; x <= kPlotWidth; x += kStep) {
      const double intensity = plot.x.from * std::pow(plot.x.to / plot.x.from, x / kPlotWidth);
      const double y = plot.pixel_y(std::min(gflops, gbps * intensity));
      taken.push_back({x - kStep / 2, y - 5, x + kStep / 2, y + 5});
    }
  }
  return taken;
}

/// The fastest row of each case, fastest first.
std::vector<const FileRow*> best_rows(const Slice& slice) {
  std::map<std::string, const FileRow*> best;
  for (const FileRow* row : slice.passed) {
    if (row->is_peer) continue;
    const FileRow*& at = best[short_case(row->what)];
    if (at == nullptr || row->gflops() > at->gflops()) at = row;
  }
  std::vector<const FileRow*> rows;
  for (const auto& [unused, row] : best) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FileRow* a, const FileRow* b) { return a->gflops() > b->gflops(); });
  return rows;
}

/// Above, right, left, and below the whole column of points at the same intensity.
std::vector<Box> places_for(const Plot& plot, const Slice& slice, const FileRow& row,
                            double width) {
  constexpr double kLine = 14, kGap = 9;
  const double x = plot.pixel_x(row.intensity()), y = plot.pixel_y(row.gflops());
  double lowest = y;
  for (const FileRow* other : slice.passed) {
    if (std::abs(plot.pixel_x(other->intensity()) - x) > 3) continue;
    lowest = std::min(lowest, plot.pixel_y(other->gflops()));
  }
  return {{x - width / 2, y + kGap, x + width / 2, y + kGap + kLine},
          {x + kGap, y - kLine / 2, x + kGap + width, y + kLine / 2},
          {x - kGap - width, y - kLine / 2, x - kGap, y + kLine / 2},
          {x - width / 2, lowest - kGap - kLine, x + width / 2, lowest - kGap}};
}

/// Names for the fastest cases, where a place without overlap is found.
std::string labels(const Plot& plot, const Slice& slice) {
  constexpr std::size_t kMostLabels = 8;
  constexpr double kLetter = 7;
  std::vector<Box> taken = obstacles(plot, slice);
  std::string out;
  std::size_t count = 0;
  for (const FileRow* row : best_rows(slice)) {
    if (count == kMostLabels) break;
    const std::string text = shortened(short_case(row->what), 24);
    const double width = kLetter * static_cast<double>(length_of(text));
    for (const Box& place : places_for(plot, slice, *row, width)) {
      const bool inside = place.left >= 2 && place.right <= kPlotWidth - 2 && place.bottom >= 2 &&
                          place.top <= kPlotHeight - 2;
      if (!inside ||
          std::any_of(taken.begin(), taken.end(), [&](const Box& b) { return b.meets(place); })) {
        continue;
      }
      taken.push_back(place);
      out += fmt::format(
          "set label {} at graph {:.4f}, graph {:.4f} center font f11 textcolor rgb fg front\n",
          gp_text(text), (place.left + place.right) / 2 / kPlotWidth,
          (place.bottom + place.top) / 2 / kPlotHeight);
      ++count;
      break;
    }
  }
  return out;
}

Chart draw(const ResultsFile& file, const Slice& slice, const std::vector<Series>& series,
           bool literature) {
  const Plot plot = plan(slice, file.peaks, literature);
  Chart chart;
  chart.name = (literature ? "roofline-literature" : "roofline") + slice.suffix;
  chart.width = kWidth;
  chart.height = kHeight;
  chart.alt = fmt::format(
      "Roofline, {} caches, {}: {} measured points under a ceiling of {} {} and slopes of up to {}",
      slice.cache, slice.dtype, slice.passed.size(),
      speed_text(plot.roofs.front().gflops, plot.unit), plot.unit.name,
      bandwidth_text(plot.slopes.front().gbps));
  Lines lines = measured_lines(plot);
  if (literature) add_literature(plot, lines);
  add_points(plot, slice, series, lines);
  chart.body = heading(chart,
                       literature ? "Roofline, beside GPUs of the literature"
                                  : "Roofline, ceilings measured in the run",
                       subtitle(file, slice)) +
               axes(plot, chart) + labels(plot, slice) + lines.blocks +
               fmt::format("plot {}\n", fmt::join(lines.plots, ", \\\n  "));
  return chart;
}

}  // namespace

void add_rooflines(const ResultsFile& file, const std::vector<Series>& series, Charts& out) {
  for (const Slice& slice : slices_of(file)) {
    if (compute_roofs(file.peaks, slice.dtype).empty() || !file.peaks.memory_gbps) {
      out.left_out.push_back(
          fmt::format("roofline{}: {} has no measured peak of multiply-adds and of memory",
                      slice.suffix, file.path));
      continue;
    }
    out.charts.push_back(draw(file, slice, series, false));
    if (file.device_kind == "cuda" && slice.dtype == "f32") {
      out.charts.push_back(draw(file, slice, series, true));
    }
  }
}

}  // namespace tessera::bench
