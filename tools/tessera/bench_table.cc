// The text of a benchmark: conditions, a block for each case, a summary.
#include <fmt/format.h>

#include <algorithm>

#include "bench_session.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

using bench::Disposition;
using bench::Row;
using bench::RunReport;

std::string rate(double giga, const char* unit) {
  return giga >= 1000 ? fmt::format("{:.3g} T{}", giga / 1000, unit)
                      : fmt::format("{:.3g} G{}", giga, unit);
}

std::string peaks_text(const bench::Roofs& r) {
  std::vector<std::string> parts = {"FMA " + rate(r.fma_gflops, "FLOP/s")};
  if (r.outer_product_gflops > 0) {
    parts.push_back("fed from shared memory " + rate(r.outer_product_gflops, "FLOP/s"));
  }
  if (r.shared_gbps > 0) parts.push_back("shared " + rate(r.shared_gbps, "B/s"));
  if (r.l2_gbps > 0) parts.push_back("L2 " + rate(r.l2_gbps, "B/s"));
  if (r.l3_gbps > 0) parts.push_back("L3 " + rate(r.l3_gbps, "B/s"));
  if (r.memory_gbps > 0) parts.push_back("memory " + rate(r.memory_gbps, "B/s"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string name_of(const Row& row) {
  if (row.kernel.empty() || row.kernel == row.requested) return row.requested;
  return row.requested + ": " + row.kernel;
}

/// The peers whose column says something: all but the row's own library.
std::string ratios_text(const RunReport& report, const Row& row) {
  std::string text;
  for (const bench::PeerInfo& peer : report.peers) {
    const double ratio = row.requested == peer.name ? 0 : bench::ratio_to(report, row, peer.name);
    text += ratio > 0 ? fmt::format(" {:>9}", fmt::format("{:.2f}x", ratio))
                      : fmt::format(" {:>9}", "");
  }
  return text;
}

std::string launch_text(const bench::gpu::Launch& l) {
  return fmt::format(
      "{} x {} x {} blocks of {} threads, {} registers{}, {} of shared memory, {} "
      "block{} a multiprocessor, occupancy {:.0f}%: {}",
      l.grid[0], l.grid[1], l.grid[2], l.block[0] * l.block[1] * l.block[2], l.registers,
      l.local_bytes > 0 ? fmt::format(", {} bytes spilled", l.local_bytes) : "",
      format_binary(l.shared_bytes), l.blocks_per_sm, l.blocks_per_sm == 1 ? "" : "s",
      100 * l.occupancy, l.function);
}

void print_row(const RunReport& report, const Row& row, std::size_t width) {
  if (row.disposition != Disposition::kPassed) {
    fmt::print("  {:<{}}  {}: {}\n", name_of(row), width, to_string(row.disposition),
               printable(row.detail));
    return;
  }
  const double median = row.median_s();
  const bench::Bound bound = bench::bound_of(row.what, row.cache, report.roofs);
  fmt::print("  {:<{}} {:>9} {:>9.4g} {:>8.4g} {:>6.1f}% {:>6.1f}% {:>8.2g}{}\n", name_of(row),
             width, format_seconds(median), bench::flops_of(row.what) / median / 1e9,
             bench::bytes_of(row.what) / median / 1e9, 100 * bound.seconds / median,
             100 * row.noise(), row.worst_ratio, ratios_text(report, row));
  for (const std::string& remark : row.remarks) fmt::print("      {}\n", printable(remark));
}

void print_counts(const Row& row) {
  if (row.counters.empty() && row.analytic.empty()) return;
  for (const bench::gpu::Launch& launch : row.launches)
    fmt::print("      {}\n", launch_text(launch));
  const auto print = [](const char* title, const auto& values) {
    for (const auto& [name, value] : values) {
      fmt::print("      {:<9} {:<28} {:>16.10g}\n", title, name, value);
    }
  };
  print("measured", row.counters);
  print("counted", row.analytic);
}

}  // namespace

void print_conditions(const BenchSession& session, const RunReport& report) {
  const DeviceInfo& d = session.device().info();
  const bench::Settings& settings = session.field().settings;
  fmt::print("{}; {}{}\n", version_line(), compiler_text(),
             cuda_build_text().empty() ? "" : "; " + cuda_build_text());
  if (!slow_build_reason().empty()) fmt::print("{}: times mean little\n", slow_build_reason());
  if (d.space == Space::kHost) {
    fmt::print("cpu     {}, {}, {} thread{}\n", d.name, d.simd, settings.threads,
               settings.threads == 1 ? "" : "s");
  } else {
    const bench::gpu::Versions v = bench::gpu::versions();
    fmt::print("cuda:{}  {}, {} multiprocessors, driver {}, CUDA {}\n", d.index, d.name, d.sm_count,
               v.driver, v.cuda_runtime);
  }
  fmt::print("peaks   {}; measured in this run\n", peaks_text(report.roofs));
  fmt::print("data    {}\n", bench::describe(settings.data));
  for (const bench::PeerInfo& peer : report.peers) {
    fmt::print("peer    {} {} ({})\n", peer.name, peer.version, printable(peer.library));
    for (const std::string& note : peer.notes) fmt::print("          {}\n", printable(note));
  }
  std::vector<std::string> absent;
  for (const std::string& line : report.absent_peers)
    absent.push_back(line.substr(0, line.find(':')));
  if (!absent.empty()) {
    fmt::print(
        "absent  {} (where they were looked for: --json; docs/benchmarking.md: how to name one)\n",
        fmt::join(absent, ", "));
  }
}

void print_case(const RunReport& report, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  const Row& first = rows.front();
  const bench::Bound bound = bench::bound_of(first.what, first.cache, report.roofs);
  std::size_t width = 24;
  for (const Row& row : rows) {
    // A refusal is a sentence; its name need not line up.
    if (row.disposition == Disposition::kPassed) width = std::max(width, name_of(row).size());
  }
  const auto timed =
      std::find_if(rows.begin(), rows.end(), [](const Row& r) { return !r.timer.empty(); });
  fmt::print("\n{}{}; {}{}{}", first.what.suite.empty() ? "" : printable(first.what.suite) + ": ",
             case_text(first.what), to_string(first.cache),
             first.sets > 1 ? fmt::format(", {} sets of operands", first.sets) : "",
             timed == rows.end() ? "" : ", " + timed->timer);
  if (bound.seconds > 0) {
    fmt::print("; at best {} ({})", format_seconds(bound.seconds), bound.by);
  }
  if (first.what.calls > 1) fmt::print("; called {} times", first.what.calls);
  std::string heads;
  for (const bench::PeerInfo& peer : report.peers) heads += fmt::format(" {:>9}", "/" + peer.name);
  fmt::print("\n  {:<{}} {:>9} {:>9} {:>8} {:>7} {:>7} {:>8}{}\n", "", width, "time", "GFLOP/s",
             "GB/s", "of roof", "noise", "error", heads);
  for (const Row& row : rows) {
    print_row(report, row, width);
    print_counts(row);
  }
}

void print_summary(const RunReport& report) {
  const std::vector<bench::Mean> means = bench::geometric_means(report);
  if (std::any_of(means.begin(), means.end(), [](const bench::Mean& m) { return m.cases > 1; })) {
    fmt::print("\ngeometric means\n");
  }
  for (const bench::Mean& mean : means) {
    if (mean.cases < 2) continue;
    std::string ratios;
    for (const auto& [peer, ratio] : mean.ratios)
      ratios += fmt::format(", {:.2f}x {}", ratio, peer);
    fmt::print("  {}{} {}, {} cases: {:.1f}% of the roofline{}\n",
               mean.suite.empty() ? "" : printable(mean.suite) + " ", mean.requested,
               to_string(mean.cache), mean.cases, 100 * mean.of_roofline, ratios);
  }
  if (report.has_clocks) {
    const bench::ClockRange& c = report.clocks;
    if (c.unavailable.empty()) {
      fmt::print(
          "\nclock   {} to {} of at most {} MHz, up to {:.0f} W and {} C{}\n", c.lowest_mhz,
          std::max(c.start_mhz, c.end_mhz), c.max_mhz, c.highest_power_w, c.highest_temperature_c,
          c.throttled.empty() ? ", never throttled"
                              : fmt::format(", throttled: {}", fmt::join(c.throttled, ", ")));
    } else {
      fmt::print("\nclock   not watched: {}\n", c.unavailable);
    }
  }
  if (!report.left_out.empty()) fmt::print("\nleft out\n");
  for (const bench::LeftOut& item : report.left_out) fmt::print("  {}\n", printable(item.what));
}

}  // namespace tessera::cli
