#include "simt/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "simt/report/quality.h"
#include "simt/report/text.h"

namespace tessera::simt {
namespace {

// From the launch's own words: "C(64x64) = A(64x64) * B(64x64), f16, row-major".
int element_bytes(const std::string& gemm) {
  constexpr std::pair<const char*, int> kTypes[] = {{", f64", 8},  {", f32", 4}, {", f16", 2},
                                                    {", bf16", 2}, {", i32", 4}, {", i8", 1},
                                                    {", u8", 1}};
  for (const auto& [name, bytes] : kTypes)
    if (gemm.find(name) != std::string::npos) return bytes;
  return 4;
}

// The counting run knows which blocks it counted; the product may be named by the other run only.
std::vector<Launch> counted_launches(const Report& report, const std::string& kernel) {
  std::vector<Launch> found;
  for (const Launch& l : report.count.launches)
    if (l.kernel == kernel) found.push_back(l);
  const bool is_named = std::any_of(found.begin(), found.end(), [](auto& l) { return l.m > 0; });
  if (is_named) return found;
  std::vector<Launch> checked;
  for (const Launch& l : report.check.launches)
    if (l.kernel == kernel) checked.push_back(l);
  for (std::size_t i = 0; i < found.size() && i < checked.size(); ++i) {
    checked[i].blocks_total = found[i].blocks_total;
    checked[i].blocks_checked = found[i].blocks_checked;
  }
  return checked;
}

double counted_share(const Launch& l) {
  if (l.blocks_total == 0) return 1;
  return std::min(1.0, static_cast<double>(l.blocks_checked) / static_cast<double>(l.blocks_total));
}

std::optional<Theory> theory_of(const Report& report, const Totals& totals) {
  const std::vector<Launch> launches = counted_launches(report, totals.kernel);
  if (launches.empty()) return std::nullopt;
  std::set<std::string> written;
  bool output_is_read = false;
  for (const Site& s : report.count.sites)
    if (s.kernel == totals.kernel && s.space == Space::kGlobal && s.is_write)
      written.insert(s.array);
  double loaded_bytes = 0;
  for (const Site& s : report.count.sites) {
    if (s.kernel != totals.kernel || s.space != Space::kGlobal || s.is_write) continue;
    if (written.count(s.array) != 0)
      output_is_read = true;
    else
      loaded_bytes += static_cast<double>(s.lanes) * s.bytes;
  }
  Theory t;
  double loads = 0, all_flop = 0;
  for (const Launch& l : launches) {
    // A launch that is no product makes the kernel's counts a mixture.
    if (l.m <= 0 || l.n <= 0 || l.k <= 0) return std::nullopt;
    const double m = static_cast<double>(l.m), n = static_cast<double>(l.n),
                 k = static_cast<double>(l.k), share = counted_share(l);
    const int bytes = element_bytes(l.gemm);
    all_flop += 2 * m * n * k;
    t.flop += 2 * m * n * k * share;
    t.compulsory_bytes += (m * k + k * n + m * n * (output_is_read ? 2 : 1)) * bytes * share;
    loads = loaded_bytes / bytes;
  }
  t.share = ratio(t.flop, all_flop);
  t.loads = loads;
  t.naive_loads = t.flop;
  t.tile = ratio(t.naive_loads, t.loads);
  t.intensity_requested = ratio(t.flop, static_cast<double>(totals.requested_bytes));
  t.intensity_moved = ratio(t.flop, static_cast<double>(totals.moved_bytes));
  t.intensity_compulsory = ratio(t.flop, t.compulsory_bytes);
  return t;
}

std::vector<std::string> kernels_of(const Report& report) {
  std::vector<std::string> kernels;
  for (const Site& s : report.count.sites)
    if (std::find(kernels.begin(), kernels.end(), s.kernel) == kernels.end())
      kernels.push_back(s.kernel);
  return kernels;
}

}  // namespace

Totals total(const std::vector<Site>& sites, const std::string& kernel) {
  Totals t;
  t.kernel = kernel;
  for (const Site& s : sites) {
    if (!kernel.empty() && s.kernel != kernel) continue;
    if (s.space == Space::kShared) {
      t.shared_requests += s.requests;
      t.wavefronts += s.wavefronts;
      t.ideal_wavefronts += s.ideal_wavefronts;
    } else {
      t.global_requests += s.requests;
      t.sectors += s.sectors;
      t.ideal_sectors += s.ideal_sectors;
      t.useful_bytes += s.useful_bytes;
      t.moved_bytes += s.sectors * kSectorBytes;
      t.requested_bytes += s.lanes * static_cast<std::uint64_t>(std::max(s.bytes, 0));
    }
  }
  return t;
}

std::vector<KernelSummary> summaries(const Report& report) {
  std::vector<KernelSummary> all;
  for (const std::string& kernel : kernels_of(report)) {
    KernelSummary s;
    s.totals = total(report.count.sites, kernel);
    s.totals.kernel = kernel;
    s.theory = theory_of(report, s.totals);
    all.push_back(std::move(s));
  }
  return all;
}

std::vector<Site> sorted_sites(const Report& report) {
  const std::vector<std::string> kernels = kernels_of(report);
  std::map<std::string, std::size_t> rank;
  for (std::size_t i = 0; i < kernels.size(); ++i) rank[kernels[i]] = i;
  std::vector<Site> sites = report.count.sites;
  const auto key = [&](const Site& s) {
    return std::make_tuple(rank[s.kernel], s.place.file, s.place.line, s.place.column, s.array,
                           s.is_write, s.bytes);
  };
  std::stable_sort(sites.begin(), sites.end(),
                   [&](const Site& a, const Site& b) { return key(a) < key(b); });
  return sites;
}

const std::vector<Launch>& launches_of(const Report& report) {
  return report.check.launches.empty() ? report.count.launches : report.check.launches;
}

std::vector<std::string> notes_of(const Report& report) {
  std::vector<std::string> notes;
  for (const auto* some : {&report.notes, &report.check.notes, &report.count.notes})
    for (const std::string& note : *some)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

std::string site_note(const Site& site) {
  std::string note;
  switch (verdict(site)) {
    case Verdict::kGood:
      break;
    case Verdict::kBroadcast:
      note = "broadcast";
      break;
    case Verdict::kEdges:
      note = "unaligned rows";
      break;
    case Verdict::kBankConflict:
      note = site.worst_degree > 1 ? fmt::format("{}-way conflict", site.worst_degree) : "conflict";
      break;
    case Verdict::kUncoalesced:
      note = site.lane_stride != 0 ? fmt::format("stride {} B", site.lane_stride) : "uncoalesced";
      break;
    case Verdict::kFewUsefulBytes:
      note = "few useful bytes";
      break;
  }
  return note;
}

std::string verdict_text(const Report& report, std::size_t warning_count) {
  const std::size_t findings = report.check.findings.size();
  std::string text = findings == 0 ? "no finding" : plural(findings, "finding");
  if (warning_count > 0) text += ", " + plural(warning_count, "warning");
  return text;
}

}  // namespace tessera::simt
