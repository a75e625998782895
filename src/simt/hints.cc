#include "simt/hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string>

#include "tessera/error.h"

namespace tessera::simt {
namespace {

// Larger tiles make the further run long.
constexpr std::int64_t kLargestTile = 128;
// What took long is not run again for a hint.
constexpr std::uint64_t kMostAccesses = 100'000'000;

bool all_of_rules(const Report& report, std::initializer_list<const char*> rules) {
  return std::all_of(report.check.findings.begin(), report.check.findings.end(),
                     [&](const Finding& f) {
                       return std::any_of(rules.begin(), rules.end(),
                                          [&](const char* rule) { return f.rule == rule; });
                     });
}

/// What threads outside of the matrices do, or the lack of them.
bool may_be_guards(const Report& report) {
  return all_of_rules(report,
                      {rule::kGlobalBounds, rule::kRowOverrun, rule::kGlobalRace, rule::kBlockRace,
                       rule::kMisaligned, rule::kUninitialisedShared, rule::kUninitialisedGlobal,
                       rule::kNeverWritten, rule::kWrongResult});
}

/// What addresses of another layout do.
bool may_be_layout(const Report& report) {
  return all_of_rules(report, {rule::kGlobalBounds, rule::kRowOverrun, rule::kGlobalRace,
                               rule::kBlockRace, rule::kNeverWritten, rule::kWrongResult});
}

std::int64_t tile_of(const Report& report, const Driver& driver) {
  if (driver.tile > 0 || report.check.launches.empty()) return driver.tile;
  const auto& block = report.check.launches.front().block;  // of solve
  return std::lcm(std::int64_t{block[0]}, std::int64_t{block[1]});
}

/// The sizes rounded up to whole tiles; three that differ, where they did.
Sizes multiples(const Sizes& sizes, std::int64_t tile) {
  Sizes out = sizes;
  for (std::int64_t& size : out) size = (size + tile - 1) / tile * tile;
  if (sizes[0] == sizes[1] && sizes[1] == sizes[2]) return out;
  if (out[1] == out[2]) out[1] += tile;
  while (out[0] == out[1] || out[0] == out[2]) out[0] += tile;
  return out;
}

bool add_tile_hint(Report& report, CheckedProgram& program) {
  const std::int64_t tile = tile_of(report, program.driver());
  if (tile < 2 || tile > kLargestTile) return false;
  const Sizes sizes = multiples(program.sizes(), tile);
  if (!program.is_clean(sizes)) return false;
  report.notes.insert(
      report.notes.begin(),
      fmt::format(
          "right at multiples of {0}: there is no finding at M,N,K = {1}. Guards for other "
          "sizes are missing; where none are wanted, --gemm {1} judges it at multiples only",
          tile, fmt::join(sizes, ",")));
  return true;
}

void add_layout_hint(Report& report, const CheckedProgram& program) {
  CheckOptions options = program.options();
  options.driver.layout = "col";
  options.count = options.use_nvcc = options.keep_products = false;
  CheckedProgram columns(options);
  if (!columns.is_clean(program.sizes())) return;
  const std::string hint =
      in_own_names("with column-major A, B and C there is no finding; ", program.driver().names) +
      "if they are meant so, give --layout col";
  report.notes.insert(report.notes.begin(), hint);
  report.hint = hint;
  for (Finding& f : report.check.findings) {
    if (f.rule == rule::kWrongResult) f.remedy += "; " + hint;
  }
}

}  // namespace

void add_hints(Report& report, CheckedProgram& program) {
  if (!report.failed() || report.check.accesses > kMostAccesses) return;
  const DriverOptions& driver = program.options().driver;
  try {
    if (driver.m == 0 && may_be_guards(report) && add_tile_hint(report, program)) return;
    if (!driver.column_major() && may_be_layout(report)) add_layout_hint(report, program);
  } catch (const Error&) {
    // A kernel that cannot be run so needs no hint.
  }
}

}  // namespace tessera::simt
