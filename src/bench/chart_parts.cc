#include "bench/chart_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#ifndef TESSERA_KERNEL_STEMS
#error "TESSERA_KERNEL_STEMS must list the kernels' files"
#endif

namespace tessera::bench {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Byte at which character `index` begins.
std::size_t byte_of(const std::string& text, std::size_t index) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_continuation(text[i]) && seen++ == index) return i;
  }
  return text.size();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

/// "k06_warp_tiled" is the rung of "cuda.warp_tiled", "c01_naive" that of "cpu.naive".
std::string stem_of(const std::string& backend, const std::string& family) {
  const char letter = backend == "cpu" ? 'c' : 'k';
  for (const std::string& stem : kernel_stems()) {
    const std::size_t line = stem.find('_');
    if (line != stem.npos && stem[0] == letter && stem.substr(line + 1) == family) return stem;
  }
  return "";
}

std::string spaced(std::string stem) {
  const std::size_t line = stem.find('_');
  if (line != stem.npos) stem[line] = ' ';
  return stem;
}

/// Rungs sort by their number; what has none comes after them.
bool is_rung(const std::string& name) {
  return name.size() > 3 && (name[0] == 'k' || name[0] == 'c') &&
         std::isdigit(static_cast<unsigned char>(name[1])) != 0 &&
         std::isdigit(static_cast<unsigned char>(name[2])) != 0;
}

}  // namespace

std::string gp_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       static_cast<unsigned char>(c) >= 0x80 ||
                       std::strchr(" ._-+/%(),:;=<>*[]#&@", c) != nullptr;
    out += plain && c != '\0' ? c : '?';
  }
  return out + "'";
}

std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string shortened(const std::string& text, std::size_t most) {
  const std::size_t length = length_of(text);
  if (length <= most) return text;
  const std::size_t tail = (most - 1) / 2, head = most - 1 - tail;
  return text.substr(0, byte_of(text, head)) + "\u2026" + text.substr(byte_of(text, length - tail));
}

std::string short_case(const Case& c) {
  std::string text = case_text(c);
  const std::string square = fmt::format("{0}x{0}x{0}", c.m);
  if (text.rfind(square + " ", 0) == 0)
    text = fmt::format("{}\u00b3", c.m) + text.substr(square.size());
  const std::size_t at = text.find(" NN");
  if (at != text.npos) text.erase(at, 3);  // the usual case needs no word
  return text;
}

std::string colour_of(const Series& series) {
  return fmt::format("{}{}", series.is_peer ? 'p' : 'c', series.colour);
}

int point_type_of(const Series& series) {
  constexpr int kKernels[] = {7, 5, 9, 11, 13, 15};  // filled shapes
  constexpr int kPeers[] = {2, 1, 3, 8};             // lines: cross, plus, star, open triangle
  return series.is_peer ? kPeers[series.colour % 4] : kKernels[series.colour % 6];
}

const std::vector<std::string>& kernel_stems() {
  static const std::vector<std::string> stems = split(TESSERA_KERNEL_STEMS, ' ');
  return stems;
}

std::string series_name(const FileRow& row) {
  if (row.is_peer) return row.requested.empty() ? row.kernel : row.requested;
  if (!row.rung.empty()) return spaced(row.rung);
  const std::vector<std::string> parts = split(row.kernel, '.');
  if (parts.size() < 2) return row.name();
  const std::string stem = stem_of(parts[0], parts[1]);
  return stem.empty() ? parts[1] : spaced(stem);
}

std::vector<Series> series_of(const ResultsFile& file) {
  std::vector<Series> kernels, peers;
  for (const FileRow& row : file.rows) {
    if (!row.passed()) continue;
    std::vector<Series>& list = row.is_peer ? peers : kernels;
    const std::string name = series_name(row);
    const bool known =
        std::any_of(list.begin(), list.end(), [&](const Series& s) { return s.name == name; });
    if (!known) list.push_back({name, row.is_peer, 0});
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const Series& a, const Series& b) {
    const bool rungs = is_rung(a.name) && is_rung(b.name);
    return rungs ? a.name < b.name : is_rung(a.name) && !is_rung(b.name);
  });
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].colour = static_cast<int>(i % 12);
  for (std::size_t i = 0; i < peers.size(); ++i) peers[i].colour = static_cast<int>(i % 4);
  kernels.insert(kernels.end(), peers.begin(), peers.end());
  return kernels;
}

std::vector<Slice> slices_of(const ResultsFile& file) {
  std::vector<Slice> slices;
  for (const FileRow& row : file.rows) {
    const std::string dtype(to_string(row.what.desc.input_dtype()));
    auto at = std::find_if(slices.begin(), slices.end(), [&](const Slice& s) {
      return s.dtype == dtype && s.cache == row.cache;
    });
    if (at == slices.end()) {
      slices.push_back({dtype, row.cache, "", {}});
      at = slices.end() - 1;
    }
    if (row.passed()) at->passed.push_back(&row);
  }
  // Without rows there is nothing to draw, and the first to be drawn has the plain names.
  std::erase_if(slices, [](const Slice& s) { return s.passed.empty(); });
  for (Slice& slice : slices) {
    const Slice& first = slices.front();
    if (slice.dtype != first.dtype) slice.suffix += "-" + slice.dtype;
    if (slice.cache != first.cache) slice.suffix += slice.cache == "cold" ? "-cold" : "-warm";
  }
  return slices;
}

std::string subtitle(const ResultsFile& file, const Slice& slice) {
  std::string text = shortened(file.device_name, 50);
  const std::string threads = fact(file.device, "threads"), simd = fact(file.device, "simd");
  if (!simd.empty()) text += ", " + simd;
  if (!threads.empty()) text += fmt::format(", {} thread{}", threads, threads == "1" ? "" : "s");
  text += fmt::format(", {}, {} caches", slice.dtype, slice.cache);
  if (file.date.size() >= 10) text += "; " + file.date.substr(0, 10);
  const std::string commit = fact(file.provenance, "commit");
  if (!commit.empty()) text += ", commit " + shortened(commit, 20);
  return text;
}

std::string heading(const Chart& chart, const std::string& title, const std::string& subtitle) {
  return fmt::format(
      "set label {} at screen {:.4f}, screen {:.4f} left font f17 textcolor rgb fg front\n"
      "set label {} at screen {:.4f}, screen {:.4f} left font f12 textcolor rgb soft front\n",
      gp_text(title), 20.0 / chart.width, 1 - 22.0 / chart.height,
      gp_text(shortened(subtitle, static_cast<std::size_t>(chart.width - 40) / 7)),
      20.0 / chart.width, 1 - 45.0 / chart.height);
}

std::string frame(const Chart& chart, const Margins& margins, const std::string& x_name,
                  const std::string& y_name) {
  const double width = chart.width, height = chart.height;
  std::string out = fmt::format(
      "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
      "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
      margins.left / width, 1 - margins.right / width, 1 - margins.top / height,
      margins.bottom / height);
  const auto name = [&](const std::string& text, double x, double y, const char* turn) {
    if (text.empty()) return;
    out += fmt::format(
        "set label {} at screen {:.4f}, screen {:.4f} center {} font f14 textcolor rgb fg\n",
        gp_text(text), x / width, y / height, turn);
  };
  name(x_name, (margins.left + width - margins.right) / 2, 16, "");
  name(y_name, 18, (margins.bottom + height - margins.top) / 2, "rotate by 90");
  return out;
}

double step_down(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {5.0, 2.0, 1.0}) {
    if (step * power <= value * (1 + 1e-9)) return step * power;
  }
  return power;
}

double step_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= value * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

std::string log_tics(char axis, double from, double to) {
  const bool dense = to / from <= 1100;
  std::string tics;
  for (double power = std::pow(10, std::floor(std::log10(from))); power <= to * 1.001;
       power *= 10) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double at = digit * power;
      if (at < from * 0.999 || at > to * 1.001) continue;
      const bool named = digit == 1 || (dense && (digit == 2 || digit == 5));
      // A third number makes a short tic without grid line.
      tics += fmt::format("{}'{}' {:g}{}", tics.empty() ? "" : ", ",
                          named ? fmt::format("{:.6g}", at) : "", at, named ? "" : " 1");
    }
  }
  return fmt::format("set {}tics nomirror ({})\n", axis, tics);
}

SpeedUnit speed_unit(double largest_gflops) {
  return largest_gflops >= 1000 ? SpeedUnit{1000, "TFLOP/s"} : SpeedUnit{};
}

std::string speed_text(double gflops, const SpeedUnit& unit) {
  const double value = gflops / unit.gflops;
  return value >= 100 ? fmt::format("{:.0f}", value)
         : value >= 1 ? fmt::format("{:.1f}", value)
                      : fmt::format("{:.2g}", value);
}

std::vector<Roof> compute_roofs(const FilePeaks& peaks, const std::string& dtype) {
  std::vector<Roof> roofs;
  const bool f64 = dtype == "f64";
  // Before GPUs had both, the one peak of a file was of the type that it measured.
  const bool has_both = peaks.fma_f64_gflops.has_value();
  const std::optional<double> fma = f64 && has_both ? peaks.fma_f64_gflops : peaks.fma_gflops;
  if (fma) roofs.push_back({"FMA in registers", *fma});
  if (!f64 && peaks.outer_product_gflops) {
    roofs.push_back({"FMA from shared", *peaks.outer_product_gflops});
  }
  return roofs;
}

Charts charts_of(const ResultsFile& file) {
  Charts out;
  const std::vector<Series> series = series_of(file);
  if (series.empty()) {
    out.left_out.push_back("charts: no row passed, so there is no speed to draw");
    return out;
  }
  add_rooflines(file, series, out);
  add_ladders(file, series, out);
  add_speedups(file, out);
  return out;
}

}  // namespace tessera::bench
