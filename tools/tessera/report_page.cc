#include "report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/chart_parts.h"
#include "html.h"
#include "quantities.h"
#include "simt/report/html_text.h"

namespace tessera::cli {
namespace {

using bench::FileRow;
using bench::ResultsFile;

constexpr auto kNumber = HtmlTable::Kind::kNumber;
constexpr auto kSentence = HtmlTable::Kind::kSentence;

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --fg: #1f2328; --soft: #59636e; --bg: #ffffff; --line: #d8dee4;
  --stripe: #f6f8fa; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --soft: #9198a1; --bg: #0d1117;
  --line: #30363d; --stripe: #151b23; --bad: #ff8f85; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg);
  max-width: 1500px; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; margin-top: 2.5rem; overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
.soft { color: var(--soft); }
figure { margin: 1.2rem 0; } img { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; white-space: nowrap; }
td.n, th.n { text-align: right; }
td.s, .facts td { white-space: normal; min-width: 20rem; overflow-wrap: anywhere; }
tbody tr:nth-child(even) { background: var(--stripe); }
tr.bad td { color: var(--bad); } tr.peer td { font-style: italic; }
.facts th { font-weight: 500; color: var(--soft); white-space: nowrap; }
)";

std::string heading(const char* title, const std::string& content) {
  return content.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", title, content);
}

std::string percent(const std::optional<double>& part) {
  return part ? fmt::format("{:.1f} %", 100 * *part) : "";
}

std::string ratio_text(const std::vector<std::pair<std::string, double>>& ratios,
                       const std::string& peer) {
  for (const auto& [name, ratio] : ratios) {
    if (name == peer) return fmt::format("{:.3f}\u00d7", ratio);
  }
  return "";
}

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

template <class Rows>
std::vector<std::string> peers_named(const Rows& rows) {
  std::vector<std::string> peers;
  for (const auto& row : rows) {
    for (const auto& [name, unused] : row.ratio_to) {
      if (std::find(peers.begin(), peers.end(), name) == peers.end()) peers.push_back(name);
    }
  }
  return peers;
}

bench::SpeedUnit unit_of(const std::vector<FileRow>& rows) {
  double largest = 0;
  for (const FileRow& row : rows) {
    if (row.passed()) largest = std::max(largest, row.gflops());
  }
  return bench::speed_unit(largest);
}

/// Half the distance of the quartiles, or the extremes where a file has no more.
std::string spread_text(const FileRow& row) {
  if (row.noise) return fmt::format("\u00b1{:.2g} %", 100 * *row.noise);
  if (!row.min_s || !row.max_s) return "";
  return fmt::format("{:+.2g} % {:+.2g} %", 100 * (*row.min_s / *row.median_s - 1),
                     100 * (*row.max_s / *row.median_s - 1));
}

/// Why a row has no speed, or what must be known of the one that it has.
std::string remark_text(const FileRow& row) {
  std::string text = row.detail;
  const std::string remarks = joined(row.remarks);
  if (!text.empty() && !remarks.empty()) text += "; ";
  return text + remarks;
}

std::vector<std::string> speed_cells(const FileRow& row, const bench::SpeedUnit& unit) {
  if (!row.passed()) return {"", "", "", "", "", "", ""};
  return {format_seconds(*row.median_s),
          spread_text(row),
          bench::speed_text(row.gflops(), unit),
          row.gbps ? fmt::format("{:.0f}", *row.gbps) : "",
          percent(row.of_fma_peak),
          percent(row.of_roofline),
          row.bound};
}

std::string rows_html(const std::vector<FileRow>& rows) {
  const bench::SpeedUnit unit = unit_of(rows);
  const std::vector<std::string> peers = peers_named(rows);
  HtmlTable table;
  table.columns = {{"suite"},
                   {"case"},
                   {"calls", kNumber},
                   {"cache"},
                   {"rung"},
                   {"asked for"},
                   {"kernel"},
                   {"disposition"},
                   {"median", kNumber},
                   {"spread", kNumber},
                   {unit.name, kNumber},
                   {"GB/s", kNumber},
                   {"of FMA", kNumber},
                   {"of roof", kNumber},
                   {"bound by"}};
  for (const std::string& peer : peers) table.columns.push_back({"over " + peer, kNumber});
  table.columns.push_back({"error / bound", kNumber});
  table.columns.push_back({"timer"});
  table.columns.push_back({"remarks", kSentence});
  for (const FileRow& row : rows) {
    std::vector<std::string> cells = {row.what.suite,
                                      bench::case_text(row.what),
                                      row.what.calls > 1 ? fmt::format("{}", row.what.calls) : "",
                                      row.cache,
                                      row.rung,
                                      row.requested,
                                      row.kernel == row.requested ? "" : row.kernel,
                                      row.disposition_text};
    for (std::string& cell : speed_cells(row, unit)) cells.push_back(std::move(cell));
    for (const std::string& peer : peers) {
      cells.push_back(row.passed() ? ratio_text(row.ratio_to, peer) : "");
    }
    cells.push_back(row.error_ratio ? fmt::format("{:.3f}", *row.error_ratio) : "");
    cells.push_back(row.timer);
    cells.push_back(remark_text(row));
    table.rows.push_back({std::move(cells), !row.passed() ? "bad" : row.is_peer ? "peer" : ""});
  }
  return table.html();
}

std::string named_numbers(const std::vector<std::pair<std::string, double>>& numbers) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : numbers) texts.push_back(fmt::format("{} {:.10g}", name, value));
  return joined(texts);
}

/// The reasons, which stand far to the right in the table of all rows.
std::string refusals_html(const std::vector<FileRow>& rows) {
  HtmlTable table;
  table.columns = {{"suite"},     {"case"},        {"cache"},
                   {"asked for"}, {"disposition"}, {"why", kSentence}};
  for (const FileRow& row : rows) {
    if (row.passed()) continue;
    table.rows.push_back({{row.what.suite, bench::case_text(row.what), row.cache, row.requested,
                           row.disposition_text, row.detail},
                          "bad"});
  }
  return table.html();
}

/// What each kernel occupies, once for each case and kernel.
std::string launches_html(const std::vector<FileRow>& rows) {
  HtmlTable table;
  table.columns = {{"case"},
                   {"kernel"},
                   {"launch"},
                   {"grid"},
                   {"block"},
                   {"registers", kNumber},
                   {"local B", kNumber},
                   {"shared B", kNumber},
                   {"blocks/SM", kNumber},
                   {"occupancy", kNumber}};
  for (const FileRow& row : rows) {
    for (const bench::gpu::Launch& l : row.launches) {
      table.rows.push_back(
          {{bench::case_text(row.what), row.name(), l.function,
            fmt::format("{}", fmt::join(l.grid, "\u00d7")),
            fmt::format("{}", fmt::join(l.block, "\u00d7")), fmt::format("{}", l.registers),
            fmt::format("{}", l.local_bytes), fmt::format("{}", l.shared_bytes),
            fmt::format("{}", l.blocks_per_sm), percent(l.occupancy)},
           ""});
    }
  }
  return table.html();
}

std::string counters_html(const std::vector<FileRow>& rows) {
  HtmlTable table;
  table.columns = {
      {"case"}, {"cache"}, {"kernel"}, {"measured", kSentence}, {"from the algorithm", kSentence}};
  for (const FileRow& row : rows) {
    if (row.counters.empty() && row.analytic.empty()) continue;
    table.rows.push_back({{bench::case_text(row.what), row.cache, row.name(),
                           named_numbers(row.counters), named_numbers(row.analytic)},
                          ""});
  }
  return table.html();
}

std::string whys_html(const ResultsFile& file) {
  HtmlTable table;
  table.columns = {{"rung"}, {"why", kSentence}};
  std::string last;
  for (const FileRow& row : file.rows) {
    if (row.why.empty() || row.rung == last) continue;
    last = row.rung;
    table.rows.push_back({{row.rung, row.why}, ""});
  }
  return table.html();
}

std::string geomeans_html(const ResultsFile& file) {
  const std::vector<std::string> peers = peers_named(file.geomeans);
  HtmlTable table;
  table.columns = {{"suite"}, {"cache"}, {"kernel"}, {"cases", kNumber}, {"of roof", kNumber}};
  for (const std::string& peer : peers) table.columns.push_back({"over " + peer, kNumber});
  for (const bench::FileGeomean& mean : file.geomeans) {
    std::vector<std::string> cells = {mean.suite, mean.cache, mean.requested,
                                      fmt::format("{}", mean.cases), percent(mean.of_roofline)};
    for (const std::string& peer : peers) cells.push_back(ratio_text(mean.ratio_to, peer));
    table.rows.push_back({std::move(cells), ""});
  }
  return table.html();
}

bench::Facts peak_facts(const bench::FilePeaks& peaks) {
  bench::Facts facts;
  const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
    if (value)
      facts.emplace_back(name, fmt::format("{:.{}f} {}", *value, *value < 100 ? 1 : 0, unit));
  };
  add("multiply-adds in registers", peaks.fma_gflops, "GFLOP/s");
  add("multiply-adds in registers, f64", peaks.fma_f64_gflops, "GFLOP/s");
  add("multiply-adds from shared memory", peaks.outer_product_gflops, "GFLOP/s");
  add("shared memory", peaks.shared_gbps, "GB/s");
  add("L2, reading", peaks.l2_gbps, "GB/s");
  add("L3, reading", peaks.l3_gbps, "GB/s");
  add("memory", peaks.memory_gbps, "GB/s");
  return facts;
}

std::string peers_html(const ResultsFile& file) {
  HtmlTable table;
  table.columns = {{"peer"}, {"version"}, {"library"}, {"notes", kSentence}};
  for (const bench::PeerInfo& peer : file.peers) {
    table.rows.push_back({{peer.name, peer.version, peer.library, joined(peer.notes)}, ""});
  }
  return table.html() + list_html(file.absent_peers);
}

/// The browser takes the variant of its theme; both are inside the page.
std::string figure(const DrawnChart& chart) {
  const auto uri = [](const std::string& svg) {
    return "data:image/svg+xml;base64," + base64(svg);
  };
  return fmt::format(
      "<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
      "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\"></picture></figure>\n",
      uri(chart.svg_dark), uri(chart.svg_light), chart.width, chart.height,
      html_escaped(chart.alt));
}

/// How many rows of each disposition.
std::string counts_text(const ResultsFile& file) {
  std::vector<std::pair<std::string, int>> counts;
  for (const FileRow& row : file.rows) {
    auto at = std::find_if(counts.begin(), counts.end(),
                           [&](const auto& c) { return c.first == row.disposition_text; });
    if (at == counts.end()) at = counts.insert(counts.end(), {row.disposition_text, 0});
    ++at->second;
  }
  std::string text = fmt::format("{} rows:", file.rows.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", counts[i].second, counts[i].first);
  }
  return text + ".";
}

std::string section_html(const ReportSection& section) {
  const ResultsFile& file = section.file;
  std::string out = fmt::format("<section>\n<h2>{}</h2>\n<p class=\"soft\">{}{}{}. {}</p>\n",
                                html_escaped(file.path), html_escaped(file.device_name),
                                file.date.empty() ? "" : ", ", html_escaped(file.date),
                                html_escaped(counts_text(file)));
  for (const DrawnChart& chart : section.charts) out += figure(chart);
  if (!section.notes.empty()) out += "<div class=\"soft\">" + list_html(section.notes) + "</div>\n";
  out += heading("Geometric means", geomeans_html(file));
  out += heading("Rungs", whys_html(file));
  out += heading("Rows without a speed", refusals_html(file.rows));
  out += heading("Rows", rows_html(file.rows));
  out += heading("CPU", rows_html(file.cpu_rows));
  out += heading("Launches", launches_html(file.rows));
  out += heading("Counters", counters_html(file.rows));
  out += heading("Left out", list_html(file.left_out));
  out += heading("Peaks measured in the run", facts_html(peak_facts(file.peaks)));
  out += heading("Clocks", facts_html(file.clocks));
  out += heading("Peers", peers_html(file));
  out += heading("Device", facts_html(file.device));
  out += heading("Conditions", facts_html(file.conditions));
  out += heading("Provenance", facts_html(file.provenance));
  return out + "</section>\n";
}

}  // namespace

std::string report_page(const std::vector<ReportSection>& sections, const std::string& program) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Tessera: measured products</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<h1>Measured products</h1>\n"
      "<p>A speed stands only beside a row that passed its check before and after it was timed. "
      "Compare rows of one file only: clocks and neighbours differ from run to run.</p>\n",
      kStyle);
  for (const ReportSection& section : sections) out += section_html(section);
  return out +
         fmt::format("<footer class=\"soft\"><p>Written by {}.</p></footer>\n</body>\n</html>\n",
                     html_escaped(program));
}

}  // namespace tessera::cli
