#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "simt/report/banks.h"
#include "simt/report/quality.h"
#include "simt/report/report.h"
#include "simt/report/rules.h"

namespace tessera::simt {
namespace {

// "the store to As", "the load of A": a site in words.
std::string access(const Site& s) {
  const std::string array = s.array.empty() ? "memory" : s.array;
  return (s.is_write ? "the store to " : "the load of ") + array;
}

std::string per_request(const Site& s, std::uint64_t count) {
  return fmt::format("{:.2f}", ratio(static_cast<double>(count), static_cast<double>(s.requests)));
}

double share_of_kernel(const Site& site, const std::vector<Site>& all) {
  std::uint64_t total = 0;
  for (const Site& s : all)
    if (s.space == site.space && s.kernel == site.kernel) total += moved(s);
  return ratio(static_cast<double>(moved(site)), static_cast<double>(total));
}

// The array's element, as far as its accesses tell: wide ones may be vectors of narrower elements.
std::int64_t element_bytes(const Site& site, const std::vector<Site>& all) {
  int least = site.bytes;
  for (const Site& s : all)
    if (s.space == site.space && s.kernel == site.kernel && s.array == site.array && s.bytes > 0)
      least = std::min(least, s.bytes);
  return least;
}

std::string padding_remedy(const Site& site, const Padding& p, std::int64_t element) {
  std::string text = fmt::format("Pad each row of {} by {} bytes: a pitch of {} instead of {}",
                                 site.array, p.bytes, p.pitch, p.pitch - p.bytes);
  if (element <= 4 && p.pitch % element == 0 && p.bytes % element == 0)
    text = fmt::format("Pad each row of {} by {} element{}: {} instead of {}, a pitch of {} bytes",
                       site.array, p.bytes / element, p.bytes == element ? "" : "s",
                       p.pitch / element, (p.pitch - p.bytes) / element, p.pitch);
  if (p.pitch % 16 == 0) text += " (still a multiple of 16)";
  if (!p.is_simulated) return text + ", so that the elements of a column lie in different banks.";
  if (p.is_free) return text + ". No conflict remains.";
  return text + fmt::format(". {:.0f} wavefronts per request remain.", p.wavefronts);
}

std::string conflict_remedy(const Site& site, const std::vector<Site>& all) {
  const std::int64_t stride = std::abs(site.lane_stride);
  const bool walks_rows = site.row_pitch > 0 && (stride == 0 || stride >= site.row_pitch);
  if (walks_rows)
    if (const auto padding = best_padding(site, all))
      return padding_remedy(site, *padding, element_bytes(site, all));
  if (stride > site.bytes)
    return fmt::format(
        "Neighbouring threads are {} bytes apart: let them take neighbouring elements, so that "
        "they meet different banks.",
        stride);
  return "Swap the two indices of " + (site.array.empty() ? "the array" : site.array) +
         ", or reorder its elements (swizzle), so that the lanes of a warp meet different banks.";
}

Warning bank_conflict(const Site& s, const std::vector<Site>& all) {
  Warning w;
  w.rule = rule::kBankConflict;
  const std::string degree =
      s.worst_degree > 1 ? fmt::format("{}-way bank conflict", s.worst_degree) : "bank conflict";
  w.message = fmt::format(
      "{} in {}: {} wavefronts per request where {} would do; {} of {} are in "
      "excess, and the line makes {:.0f}% of the kernel's.",
      degree, access(s), per_request(s, s.wavefronts), per_request(s, s.ideal_wavefronts),
      s.wavefronts - s.ideal_wavefronts, s.wavefronts, 100 * share_of_kernel(s, all));
  w.remedy = conflict_remedy(s, all);
  return w;
}

std::string coalescing_remedy(const Site& s) {
  const std::int64_t stride = std::abs(s.lane_stride);
  if (stride >= kSectorBytes)
    return fmt::format(
        "Neighbouring threads are {} bytes apart: let threadIdx.x walk the contiguous index (swap "
        "row and column).",
        stride);
  if (stride > s.bytes)
    return fmt::format(
        "Neighbouring threads are {} bytes apart and take {} each: let them take neighbouring "
        "elements, or let each load its {} bytes in one access.",
        stride, s.bytes, stride);
  return "Let threadIdx.x walk the contiguous index, so that neighbouring threads take "
         "neighbouring elements.";
}

Warning sectors_wasted(const Site& s, const std::vector<Site>& all, const char* rule) {
  Warning w;
  w.rule = rule;
  w.message = fmt::format(
      "{} touches {} sectors of 32 bytes per request where {} would do; {:.0f}% of the bytes moved "
      "are used, and the line makes {:.0f}% of the kernel's sectors.",
      access(s), per_request(s, s.sectors), per_request(s, s.ideal_sectors),
      100 *
          ratio(static_cast<double>(s.useful_bytes), static_cast<double>(s.sectors) * kSectorBytes),
      100 * share_of_kernel(s, all));
  w.message[0] = 'T';  // "the ..." opens the sentence
  w.remedy = coalescing_remedy(s);
  return w;
}

Warning warning_of(const Site& s, Verdict v, const std::vector<Site>& all) {
  Warning w = v == Verdict::kBankConflict  ? bank_conflict(s, all)
              : v == Verdict::kUncoalesced ? sectors_wasted(s, all, rule::kUncoalesced)
                                           : sectors_wasted(s, all, rule::kFewUsefulBytes);
  if (s.is_part) {
    w.remedy = fmt::format(
        "The source asks for more at once: nvcc has taken the access apart, here into {} bytes at "
        "a "
        "time. The indices are not at fault.",
        s.bytes);
  }
  w.array = s.array;
  w.place = s.place;
  return w;
}

std::uint64_t wasted(const Site& s) { return moved(s) - ideal(s); }

}  // namespace

std::vector<Warning> warnings(const Report& report) {
  // One for each rule, line and array: what several instances of a template share is one remark.
  // Columns apart: a line may load an array twice.
  using Key = std::tuple<std::string, int, int, std::string, bool, int>;
  std::map<Key, const Site*> worst;
  const std::vector<Site>& sites = report.count.sites;
  for (const Site& s : sites) {
    const Verdict v = verdict(s);
    if (!is_warning(v)) continue;
    const Key key{s.place.file, s.place.line, s.place.column,
                  s.array,      s.is_write,   static_cast<int>(v)};
    const Site*& known = worst[key];
    if (known == nullptr || wasted(s) > wasted(*known)) known = &s;
  }
  std::vector<const Site*> order;
  for (const auto& [key, site] : worst) order.push_back(site);
  // The most expensive first; a wasted sector and a wasted wavefront count alike.
  std::stable_sort(order.begin(), order.end(),
                   [](const Site* a, const Site* b) { return wasted(*a) > wasted(*b); });
  std::vector<Warning> all;
  for (const Site* s : order) all.push_back(warning_of(*s, verdict(*s), sites));
  return all;
}

}  // namespace tessera::simt
