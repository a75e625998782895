// Speed over the peers, case by case, for each suite.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "bench/chart_parts.h"

namespace tessera::bench {
namespace {

/// One case of a suite: Tessera's time over each peer's.
struct Ratios {
  std::string name;
  std::map<std::string, double> over;  ///< by peer; above 1 is faster
  double least() const {
    double value = over.begin()->second;
    for (const auto& [unused, ratio] : over) value = std::min(value, ratio);
    return value;
  }
};

std::vector<std::string> suites_of(const Slice& slice) {
  std::vector<std::string> suites;
  for (const FileRow* row : slice.passed) {
    if (std::find(suites.begin(), suites.end(), row->what.suite) == suites.end()) {
      suites.push_back(row->what.suite);
    }
  }
  return suites;
}

/// What the reader gets without naming a kernel, where that was timed; else the best kernel.
bool has_auto(const Slice& slice, const std::string& suite) {
  return std::any_of(slice.passed.begin(), slice.passed.end(), [&](const FileRow* row) {
    return row->what.suite == suite && row->requested == "auto";
  });
}

std::vector<Ratios> ratios_of(const Slice& slice, const std::string& suite, bool only_auto) {
  std::map<std::string, const FileRow*> ours;
  std::map<std::string, std::map<std::string, double>> peers_s;
  for (const FileRow* row : slice.passed) {
    if (row->what.suite != suite) continue;
    const std::string name = case_text(row->what);
    if (row->is_peer) {
      peers_s[name].emplace(series_name(*row), *row->median_s);
    } else if (!only_auto || row->requested == "auto") {
      const FileRow*& best = ours[name];
      if (best == nullptr || *row->median_s < *best->median_s) best = row;
    }
  }
  std::vector<Ratios> all;
  for (const auto& [name, row] : ours) {
    Ratios one{short_case(row->what), {}};
    for (const auto& [peer, seconds] : peers_s[name]) one.over[peer] = seconds / *row->median_s;
    for (const auto& [peer, ratio] : row->ratio_to) {
      if (ratio > 0) one.over.emplace(peer, ratio);  // where the peer's own row is not in the file
    }
    if (!one.over.empty()) all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const Ratios& a, const Ratios& b) {
    return std::make_pair(a.least(), a.name) < std::make_pair(b.least(), b.name);
  });
  return all;
}

/// Of a long list both ends.
std::string thin_out(std::vector<Ratios>& all) {
  constexpr std::size_t kMost = 80;
  const std::size_t count = all.size();
  if (count <= kMost) return "";
  all.erase(all.begin() + kMost / 2, all.end() - kMost / 2);
  return fmt::format("; the {} lowest and {} highest of {} cases", kMost / 2, kMost / 2, count);
}

struct Span {
  double from = 1, to = 1;
};

Span span_of(const std::vector<Ratios>& all) {
  Span span;
  for (const Ratios& one : all) {
    for (const auto& [unused, ratio] : one.over) {
      span.from = std::min(span.from, ratio);
      span.to = std::max(span.to, ratio);
    }
  }
  return {span.from / 1.08, span.to * 1.08};
}

/// Ratios are read on a logarithmic axis: half and twice as fast are as far from 1.
std::string ratio_tics(const Span& span) {
  std::string tics;
  const auto add = [&](double at) {
    if (at < span.from || at > span.to) return;
    tics += fmt::format("{}'{:g}\u00d7' {:g}", tics.empty() ? "" : ", ", at, at);
  };
  const double width = span.to / span.from;
  if (width < 1.5) {
    for (int twentieths = 10; twentieths <= 30; ++twentieths) add(twentieths / 20.0);
  } else if (width < 6) {
    for (const double at : {0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0}) {
      add(at);
    }
  } else {
    for (double power = 1e-6; power < 1e7; power *= 10) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit == 1 || width < 1000) add(digit * power);
      }
    }
  }
  return tics;
}

std::string suite_name(const std::string& suite) {
  std::string name;
  for (const char c : suite) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '_';
  }
  return shortened(name, 60);
}

std::vector<std::string> peers_in(const std::vector<Ratios>& all) {
  std::vector<std::string> peers;
  for (const Ratios& one : all) {
    for (const auto& [name, unused] : one.over) {
      if (std::find(peers.begin(), peers.end(), name) == peers.end()) peers.push_back(name);
    }
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

double geometric_mean(const std::vector<Ratios>& all, const std::string& peer) {
  double logarithms = 0;
  int count = 0;
  for (const Ratios& one : all) {
    const auto at = one.over.find(peer);
    if (at == one.over.end()) continue;
    logarithms += std::log(at->second);
    ++count;
  }
  return std::exp(logarithms / count);
}

/// A grey line from 1 to the farthest ratio of each case.
std::string spans_block(const std::vector<Ratios>& all) {
  std::string block = "$spans << EOD\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    double low = 1, high = 1;
    for (const auto& [unused, ratio] : all[i].over) {
      low = std::min(low, ratio);
      high = std::max(high, ratio);
    }
    block += fmt::format("{:g} {} {:g} 0\n", low, i, high - low);
  }
  return block + "EOD\n";
}

std::string points_block(const std::vector<Ratios>& all, const std::string& peer) {
  std::string block;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = all[i].over.find(peer);
    if (at != all[i].over.end()) block += fmt::format("{:g} {}\n", at->second, i);
  }
  return block;
}

std::string case_tics(const std::vector<Ratios>& all) {
  std::string tics;
  for (std::size_t i = 0; i < all.size(); ++i) {
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", gp_text(shortened(all[i].name, 30)), i);
  }
  return tics;
}

Chart draw(const ResultsFile& file, const Slice& slice, const std::string& suite,
           std::vector<Ratios> all, bool only_auto) {
  const std::vector<std::string> peers = peers_in(all);
  Chart chart;
  chart.name = "speedup" + (suite.empty() ? "" : "-" + suite_name(suite)) + slice.suffix;
  chart.alt = fmt::format("Speed over peers, {} cases:", all.size());
  std::vector<std::string> plots = {
      "$spans using 1:2:3:4 with vectors nohead linecolor rgb soft linewidth 1 title ''",
      "$one with lines linecolor rgb fg linewidth 1.4 title ''"};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const Series look{peers[i], false, static_cast<int>(i % 12)};
    const double mean = geometric_mean(all, peers[i]);  // of all cases, drawn or not
    chart.alt += fmt::format(" geometric mean over {} {:.2f};", peers[i], mean);
    plots.push_back(
        fmt::format("$peer{} with points pointtype {} pointsize 0.85*dot linecolor rgb {} title {}",
                    i, point_type_of(look), colour_of(look),
                    gp_text(fmt::format("over {}: geometric mean {:.2f}\u00d7",
                                        shortened(peers[i], 24), mean))));
  }
  const std::string thinned = thin_out(all);
  const std::size_t rows = all.size();
  const int legend = 18 * static_cast<int>(peers.size());
  const int top = 70 + legend, bottom = 58, left = 235, right = 40;
  chart.width = 900;
  chart.height = top + bottom + std::max(3, static_cast<int>(rows) + 1) * 20;
  const Span span = span_of(all);
  std::string blocks = spans_block(all);
  blocks += fmt::format("$one << EOD\n1 -0.8\n1 {:g}\nEOD\n", static_cast<double>(rows) - 0.2);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    blocks += fmt::format("$peer{} << EOD\n{}EOD\n", i, points_block(all, peers[i]));
  }
  const std::string title =
      fmt::format("Speed of {} over peers{}", only_auto ? "auto" : "the best kernel",
                  suite.empty() ? "" : ": " + shortened(suite, 40));
  chart.body =
      heading(chart, title, subtitle(file, slice) + thinned) +
      frame(chart, {left, right, top, bottom},
            "time of the peer / time of Tessera (right of 1 is faster)", "") +
      fmt::format(
          "set logscale x\nset xrange [{:g}:{:g}]\nset yrange [-0.8:{:g}]\n"
          "set xtics nomirror ({})\nset ytics nomirror scale 0 ({}) font f12\n"
          "set grid xtics ytics\n"
          "set key at screen {:.4f}, screen {:.4f} left top Left reverse samplen 1 font f12\n",
          span.from, span.to, static_cast<double>(rows) - 0.2, ratio_tics(span), case_tics(all),
          double(left) / chart.width, 1 - 58.0 / chart.height) +
      blocks + fmt::format("plot {}\n", fmt::join(plots, ", \\\n  "));
  return chart;
}

}  // namespace

void add_speedups(const ResultsFile& file, Charts& out) {
  for (const Slice& slice : slices_of(file)) {
    bool drawn = false;
    for (const std::string& suite : suites_of(slice)) {
      const bool only_auto = has_auto(slice, suite);
      std::vector<Ratios> all = ratios_of(slice, suite, only_auto);
      if (all.empty()) continue;
      out.charts.push_back(draw(file, slice, suite, std::move(all), only_auto));
      drawn = true;
    }
    if (!drawn) {
      out.left_out.push_back(
          fmt::format("speedup{}: no case has both a kernel and a peer among the rows that passed",
                      slice.suffix));
    }
  }
}

}  // namespace tessera::bench
