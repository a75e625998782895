#include "simt/exercise/loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "simt/report/summary.h"
#include "simt/report/text.h"

namespace tessera::simt {
namespace {

// Of the rung that the exercise leads to.
constexpr double kRungTile = 16;

std::string sentence(const RungLoads& answer) {
  constexpr double kClose = 0.05;
  if (answer.reuse < 1 - kClose) {
    return "more than without tiles: an element is loaded several times for one use";
  }
  if (answer.reuse < 1 + kClose) return "as without tiles: each use loads its element again";
  if (answer.reuse < kRungTile * (1 - kClose)) {
    return fmt::format(
        "tiles save less than they could: an element serves {:.1f} times, not {:.0f}; load one of "
        "A "
        "and one of B a thread and step",
        answer.reuse, kRungTile);
  }
  return fmt::format("as tiles of {0:.0f} x {0:.0f} should: each element serves {0:.0f} times",
                     answer.reuse);
}

}  // namespace

std::optional<LoadComparison> compare_loads(const Report& report) {
  const std::vector<KernelSummary> all = summaries(report);
  const auto found = std::find_if(all.begin(), all.end(), [](const KernelSummary& s) {
    return s.theory && s.theory->loads > 0;
  });
  const std::vector<Launch>& launches = launches_of(report);
  if (found == all.end() || launches.empty()) return {};
  const Theory& theory = *found->theory;
  LoadComparison out;
  out.m = launches[0].m, out.n = launches[0].n, out.k = launches[0].k;
  const std::string name = std::filesystem::path(report.path).filename().string();
  out.rows = {{name, theory.loads, theory.tile, true},
              {"k01_naive", theory.naive_loads, 1, false},
              {"k02_tiled", theory.naive_loads / kRungTile, kRungTile, false}};
  out.text = sentence(out.rows[0]);
  return out;
}

std::string to_text(const LoadComparison& comparison) {
  std::string out = fmt::format("elements of A and B loaded from global memory at {}x{}x{}\n",
                                comparison.m, comparison.n, comparison.k);
  for (const RungLoads& r : comparison.rows) {
    std::string of = "2MNK";
    if (r.reuse != 1) of += fmt::format("/{:.4g}", r.reuse);
    out += fmt::format("  {} {:>10.0f}  {}{}\n", pad(printable(r.name), 14), r.loads, of,
                       r.counted ? ", counted" : ", by theory");
  }
  return out + "  " + comparison.text + "\n";
}

Json to_json(const LoadComparison& comparison) {
  Json rows = Json::array();
  for (const RungLoads& r : comparison.rows) {
    rows.push_back(
        {{"name", r.name}, {"loads", r.loads}, {"reuse", r.reuse}, {"counted", r.counted}});
  }
  return {
      {"m", comparison.m},
      {"n", comparison.n},
      {"k", comparison.k},
      {"naive_loads", 2.0 * static_cast<double>(comparison.m) * static_cast<double>(comparison.n) *
                          static_cast<double>(comparison.k)},
      {"rows", rows},
      {"text", comparison.text}};
}

}  // namespace tessera::simt
