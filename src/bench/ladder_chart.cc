// The rungs and the peers on square products, by size and at the largest.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/chart_parts.h"

namespace tessera::bench {
namespace {

/// GFLOP/s of the best configuration, by size and series.
using Speeds = std::map<std::int64_t, std::map<std::string, double>>;

std::string key_of(const Series& series) { return (series.is_peer ? "peer " : "") + series.name; }

Speeds square_speeds(const Slice& slice) {
  Speeds speeds;
  for (const FileRow* row : slice.passed) {
    const Case& c = row->what;
    const bool square = c.m == c.n && c.n == c.k && c.desc.batch == 1;
    if (!square || c.desc.op_a != Op::kN || c.desc.op_b != Op::kN) continue;
    const Series series{series_name(*row), row->is_peer, 0};
    double& best = speeds[c.m][key_of(series)];
    best = std::max(best, row->gflops());
  }
  return speeds;
}

/// Sizes that fit beside each other: of many the largest, at which differences show.
void keep_largest(Speeds& speeds) {
  constexpr std::size_t kMostSizes = 10;
  while (speeds.size() > kMostSizes) speeds.erase(speeds.begin());
}

std::vector<Series> present(const std::vector<Series>& series, const Speeds& speeds) {
  std::vector<Series> out;
  for (const Series& s : series) {
    if (std::any_of(speeds.begin(), speeds.end(),
                    [&](const auto& size) { return size.second.count(key_of(s)) != 0; })) {
      out.push_back(s);
    }
  }
  return out;
}

double largest(const Speeds& speeds) {
  double most = 0;
  for (const auto& [unused, by_series] : speeds) {
    for (const auto& [unused_name, speed] : by_series) most = std::max(most, speed);
  }
  return most;
}

Chart by_size(const ResultsFile& file, const Slice& slice, const std::vector<Series>& series,
              Speeds speeds) {
  keep_largest(speeds);
  constexpr int kRight = 225;
  Chart chart;
  chart.name = "ladder" + slice.suffix;
  chart.width = 1040;
  chart.height = 520;
  const SpeedUnit unit = speed_unit(largest(speeds));
  chart.alt = fmt::format("Speed of {} kernel families and peers on square products of {} sizes",
                          series.size(), speeds.size());
  const double step = 0.84 / static_cast<double>(series.size());
  std::string blocks, tics;
  std::vector<std::string> plots;
  for (std::size_t s = 0; s < series.size(); ++s) {
    blocks += fmt::format("$bars{} << EOD\n", s);
    int group = 0;
    for (const auto& [unused, by_series] : speeds) {
      const auto at = by_series.find(key_of(series[s]));
      const double x = group++ - 0.42 + (static_cast<double>(s) + 0.5) * step;
      if (at != by_series.end())
        blocks += fmt::format("{:.4f} {:g}\n", x, at->second / unit.gflops);
    }
    blocks += "EOD\n";
    plots.push_back(
        fmt::format("$bars{} with boxes fillstyle solid 1.0 noborder linecolor rgb {} "
                    "title {}",
                    s, colour_of(series[s]), gp_text(shortened(series[s].name, 22))));
  }
  int group = 0;
  for (const auto& [size, unused] : speeds) {
    tics += fmt::format("{}'{}' {}", group == 0 ? "" : ", ", size, group);
    ++group;
  }
  chart.body =
      heading(chart, "The ladder on square products, best configuration of each rung",
              subtitle(file, slice)) +
      frame(chart, {75, kRight, 70, 62}, "m = n = k", unit.name) +
      fmt::format(
          "set xrange [-0.6:{:.1f}]\nset yrange [0:*]\nset offsets 0,0,graph 0.06,0\n"
          "set xtics nomirror scale 0 ({})\nset ytics nomirror\nset grid noxtics ytics\n"
          "set boxwidth {:.4f}\n"
          "set key at screen {:.4f}, screen {:.4f} left top Left reverse samplen 1.2 spacing 1.2 "
          "font f12\n",
          group - 0.4, tics, step * 0.9, 1 - (kRight - 12.0) / chart.width,
          1 - 64.0 / chart.height) +
      blocks + fmt::format("plot {}\n", fmt::join(plots, ", \\\n  "));
  return chart;
}

Chart at_largest(const ResultsFile& file, const Slice& slice, const std::vector<Series>& series,
                 const Speeds& speeds) {
  const auto& [size, by_series] = *speeds.rbegin();
  const std::vector<Roof> roofs = compute_roofs(file.peaks, slice.dtype);
  std::vector<Series> here;
  for (const Series& s : series) {
    if (by_series.count(key_of(s)) != 0) here.push_back(s);
  }
  double most = 0;
  for (const auto& [unused, speed] : by_series) most = std::max(most, speed);
  for (const Roof& roof : roofs) most = std::max(most, roof.gflops);
  const SpeedUnit unit = speed_unit(most);

  Chart chart;
  chart.name = "ladder-largest" + slice.suffix;
  chart.width = 860;
  const int bars = static_cast<int>(here.size());
  const int bottom = 58, top = 70 + 18 * static_cast<int>(roofs.size());
  chart.height = top + bottom + std::max(2, bars) * 34;
  chart.alt = fmt::format("Speed at m = n = k = {}:", size);
  std::string blocks, tics;
  std::vector<std::string> plots;
  for (int i = 0; i < bars; ++i) {
    const Series& s = here[static_cast<std::size_t>(i)];
    const double speed = by_series.at(key_of(s));
    const int row = bars - 1 - i;  // the first on top
    chart.alt += fmt::format("{} {} {}", i == 0 ? "" : ",", s.name, speed_text(speed, unit));
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", gp_text(shortened(s.name, 24)), row);
    blocks += fmt::format("$bar{} << EOD\n0 {} 0 {:g} {} {}\nEOD\n", i, row, speed / unit.gflops,
                          row - 0.36, row + 0.36);
    plots.push_back(
        fmt::format("$bar{} using 3:2:3:4:5:6 with boxxyerror fillstyle solid 1.0 "
                    "noborder linecolor rgb {} title ''",
                    i, colour_of(s)));
    // Inside the bar's end where it is long enough: a ceiling may stand just behind it.
    const bool inside = speed > 0.15 * most;
    blocks += fmt::format(
        "set label {} at {:g},{} {} offset character {},0 font f12 textcolor "
        "rgb {} front\n",
        gp_text(speed_text(speed, unit)), speed / unit.gflops, row, inside ? "right" : "left",
        inside ? "-0.6" : "0.6", inside ? "on_" + colour_of(s) : std::string("fg"));
  }
  chart.alt += fmt::format(" {}", unit.name);
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    blocks += fmt::format("$roof{} << EOD\n{:g} -0.6\n{:g} {:.1f}\nEOD\n", i,
                          roofs[i].gflops / unit.gflops, roofs[i].gflops / unit.gflops, bars - 0.4);
    plots.push_back(
        fmt::format("$roof{} with lines linecolor rgb roof linewidth 1.6 dashtype {} title {}", i,
                    i == 0 ? "1" : "(12,6)",
                    gp_text(fmt::format("{}: {} {}", roofs[i].name,
                                        speed_text(roofs[i].gflops, unit), unit.name))));
  }
  chart.body =
      heading(chart, fmt::format("The ladder at m = n = k = {}", size), subtitle(file, slice)) +
      frame(chart, {175, 35, top, bottom}, unit.name, "") +
      fmt::format(
          "set yrange [-0.6:{:.1f}]\nset xrange [0:{:g}]\nset ytics nomirror scale 0 ({})\n"
          "set xtics nomirror\nset grid xtics noytics\n"
          "set key at screen {:.4f}, screen {:.4f} left top Left reverse "
          "samplen 2.2 font f12\n",
          bars - 0.4, most * 1.06 / unit.gflops, tics, 170.0 / chart.width,
          1 - 58.0 / chart.height) +
      blocks + fmt::format("plot {}\n", fmt::join(plots, ", \\\n  "));
  return chart;
}

}  // namespace

void add_ladders(const ResultsFile& file, const std::vector<Series>& series, Charts& out) {
  for (const Slice& slice : slices_of(file)) {
    const Speeds speeds = square_speeds(slice);
    if (speeds.empty()) {
      out.left_out.push_back(
          fmt::format("ladder{}: no square product, NN, among the rows that passed", slice.suffix));
      continue;
    }
    const std::vector<Series> there = present(series, speeds);
    out.charts.push_back(by_size(file, slice, there, speeds));
    out.charts.push_back(at_largest(file, slice, there, speeds));
  }
}

}  // namespace tessera::bench
