// Themes and terminals: what stands before the body of a chart.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "bench/chart.h"

namespace tessera::bench {
namespace {

struct Colours {
  std::string_view background, foreground, soft, grid, roof;
  std::array<std::string_view, 12> kernels;
  std::array<std::string_view, 4> peers;
};

// Told apart by people with the common kinds of colour blindness as far as twelve can be (after
// Okabe and Ito); shapes of points repeat after six.
constexpr Colours kLight = {"#ffffff",
                            "#1f2328",
                            "#59636e",
                            "#d8dee4",
                            "#1f2328",
                            {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#4aa3df",
                             "#7a5195", "#8c6d31", "#c2185b", "#00838f", "#558b2f", "#5d4037"},
                            {"#555555", "#909090", "#2f2f2f", "#b0b0b0"}};
constexpr Colours kDark = {"#0d1117",
                           "#e6edf3",
                           "#9198a1",
                           "#30363d",
                           "#e6edf3",
                           {"#4da3e0", "#ff8a47", "#35c99a", "#e79bc4", "#f0c040", "#9bd4ff",
                            "#b48edb", "#c9a86a", "#ff6f9c", "#4dd0e1", "#9ccc65", "#bc8f7f"},
                           {"#c8ccd0", "#8b949e", "#f0f0f0", "#6e7681"}};

/// Black or white, whichever is read better on a colour "#rrggbb" (WCAG 2, relative luminance).
std::string_view text_on(std::string_view colour) {
  const auto channel = [&](std::size_t at) {
    const double part = std::stoi(std::string(colour.substr(at, 2)), nullptr, 16) / 255.0;
    return std::pow((part + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.179 ? "#000000" : "#ffffff";
}

/// Letters in pixels of the chart, bitmaps take points of 4/3 pixels; and dots, which SVG draws
/// larger.
std::string sizes(ImageFormat format) {
  std::string out = format == ImageFormat::kSvg ? "dot = 0.65\n" : "dot = 1.0\n";
  for (const int size : {11, 12, 14, 17}) {
    out += format == ImageFormat::kSvg ? fmt::format("f{0} = ',{0}'\n", size)
                                       : fmt::format("f{} = ',{:g}'\n", size, size * 0.75);
  }
  return out;
}

std::string variables(const Colours& colours) {
  std::string out =
      fmt::format("fg = '{}'; soft = '{}'; grid = '{}'; roof = '{}'; bg = '{}'\n",
                  colours.foreground, colours.soft, colours.grid, colours.roof, colours.background);
  for (std::size_t i = 0; i < colours.kernels.size(); ++i) {
    out += fmt::format("c{0} = '{1}'; on_c{0} = '{2}'\n", i, colours.kernels[i],
                       text_on(colours.kernels[i]));
  }
  for (std::size_t i = 0; i < colours.peers.size(); ++i) {
    out += fmt::format("p{0} = '{1}'; on_p{0} = '{2}'\n", i, colours.peers[i],
                       text_on(colours.peers[i]));
  }
  return out;
}

/// Bitmaps have two pixels for each of the chart's, for screens that show them.
std::string terminal(const Chart& chart, const Colours& colours, ImageFormat format) {
  if (format == ImageFormat::kSvg) {
    return fmt::format(
        "set terminal svg size {},{} fixed noenhanced font 'sans-serif,14' background '{}'\n",
        chart.width, chart.height, colours.background);
  }
  return fmt::format(
      "set terminal pngcairo size {},{} noenhanced font 'sans-serif,10.5' fontscale 2 linewidth 2 "
      "pointscale 2 background '{}'\n",
      2 * chart.width, 2 * chart.height, colours.background);
}

}  // namespace

std::string chart_script(const Chart& chart, Theme theme, ImageFormat format) {
  const Colours& colours = theme == Theme::kLight ? kLight : kDark;
  return "set encoding utf8\n" + terminal(chart, colours, format) + sizes(format) +
         variables(colours) +
         "set border 3 linecolor rgb soft\n"
         "set tics textcolor rgb fg\n"
         "set key textcolor rgb fg\n"
         "set grid linecolor rgb grid linetype 1\n" +
         chart.body;
}

}  // namespace tessera::bench
