#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "simt/report/quality.h"
#include "simt/report/report.h"
#include "simt/report/rules.h"
#include "simt/report/source_text.h"
#include "simt/report/summary.h"
#include "simt/report/text.h"

namespace tessera::simt {
namespace {

constexpr int kWidth = 100;
constexpr int kPlaceWidth = 11, kArrayWidth = 10;

class TextReport {
 public:
  TextReport(const Report& report, bool colour)
      : report_(report), source_(report), colour_(colour), warnings_(warnings(report)) {}

  std::string write() {
    const bool failed = report_.failed();
    line(paint(failed ? kRed : kGreen,
               printable(report_.path) + ": " + verdict_text(report_, warnings_.size())));
    if (!report_.how.empty()) paragraph("launched with " + report_.how, 0);
    if (!report_.hint.empty()) paragraph(report_.hint, 0);
    for (const Finding& f : report_.check.findings) write_finding(f);
    write_launches();
    write_sites();
    for (const KernelSummary& s : summaries(report_)) write_summary(s);
    write_compiled();
    for (const Warning& w : warnings_) write_warning(w);
    write_notes();
    return out_;
  }

 private:
  static constexpr char kRed[] = "1;31", kGreen[] = "1;32", kYellow[] = "1;33", kBold[] = "1";

  std::string paint(const char* code, const std::string& text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  void line(const std::string& text = "") { out_ += text + "\n"; }
  void paragraph(const std::string& text, int indent) {
    for (const std::string& l : wrap(printable(text), kWidth, indent)) line(l);
  }
  void heading(const std::string& text) {
    line();
    for (const std::string& l : wrap(printable(text), kWidth, 0)) line(paint(kBold, l));
  }

  static std::string position(const Place& p) {
    std::string text = printable(to_string(p));
    if (p.line > 0 && p.column > 0) text += fmt::format(":{}", p.column);
    return text;
  }

  void write_excerpt(const Place& place) {
    const std::string* text = source_.line(place);
    if (text == nullptr) return;
    const std::string number = fmt::format("{:>5} | ", place.line);
    const Excerpt e = excerpt(*text, place.column, kWidth - static_cast<int>(number.size()));
    line(number + e.line);
    if (e.caret >= 0)
      line(std::string(number.size() - 2, ' ') + "| " + std::string(e.caret, ' ') +
           paint(kGreen, "^"));
  }

  void write_finding(const Finding& f) {
    line();
    std::string what = f.rule;
    if (!f.array.empty()) what += " on " + f.array + f.element;
    line(position(f.place) + ": " + paint(kRed, "error:") + " " + printable(what));
    paragraph(f.message, 2);
    write_excerpt(f.place);
    if (f.other_place) {
      const bool same = *f.other_place == f.place;
      line(position(*f.other_place) + ": the other access" + (same ? ", by the same line" : ""));
      if (!same) write_excerpt(*f.other_place);
    }
    paragraph(circumstances(f), 2);
    if (!f.remedy.empty()) paragraph("remedy: " + f.remedy, 2);
  }

  static std::string circumstances(const Finding& f) {
    std::string text;
    const auto add = [&](const std::string& part) {
      if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
    };
    if (f.thread && f.other_thread)
      add(to_string(*f.thread) + " and " + to_string(*f.other_thread));
    else if (f.thread)
      add(to_string(*f.thread));
    if (!f.phase_text.empty())
      add(f.phase_text);
    else if (f.phase >= 0)
      add("after " + plural(static_cast<std::uint64_t>(f.phase), "barrier"));
    if (!f.kernel.empty()) add("kernel " + f.kernel);
    if (f.count > 1) add(fmt::format("seen {} times", f.count));
    return text;
  }

  static std::string extent(const std::array<unsigned, 3>& x) {
    return x[2] > 1 ? fmt::format("({},{},{})", x[0], x[1], x[2])
                    : fmt::format("({},{})", x[0], x[1]);
  }

  void write_launches() {
    const auto& launches = launches_of(report_);
    if (launches.empty()) return;
    heading("Launches");
    for (const Launch& l : launches) {
      std::string text =
          fmt::format("{}: grid {}, block {}", l.kernel, extent(l.grid), extent(l.block));
      const std::uint64_t shared = l.static_shared_bytes + l.dynamic_shared_bytes;
      if (shared > 0) text += fmt::format(", {} bytes of shared memory", shared);
      if (l.dynamic_shared_bytes > 0) text += fmt::format(" ({} dynamic)", l.dynamic_shared_bytes);
      text += fmt::format(", {} of {} checked", l.blocks_checked, plural(l.blocks_total, "block"));
      if (l.repeats > 1) text += fmt::format(", launched {} times", l.repeats);
      if (l.place.line > 0) text += " (" + position(l.place) + ")";
      paragraph(text, 2);
      if (!l.gemm.empty()) paragraph(l.gemm, 4);
    }
  }

  void write_sites() {
    std::string kernel;
    bool first = true, is_compiled = false;
    for (const Site& s : sorted_sites(report_)) {
      if (first || s.kernel != kernel) {
        heading("Accesses of warps" + (s.kernel.empty() ? "" : " in " + s.kernel) +
                ": sectors of global and wavefronts of shared memory, for each request");
        line(fmt::format("  {:<{}} {:<{}} {:<12} {:>5} {:>11} {:>7} {:>7} {:>7}  note", "line",
                         kPlaceWidth, "array", kArrayWidth, "access", "bytes", "requests", "each",
                         "ideal", "excess"));
        kernel = s.kernel;
        first = false;
      }
      write_site(s);
      is_compiled = is_compiled || s.width_is_compiled;
    }
    if (is_compiled) line("  * width as compiled by nvcc");
  }

  std::string site_place(const Site& s) {
    if (s.place.line == 0) return "(no line)";
    std::string where = std::to_string(s.place.line);
    if (s.place.column > 0) where += fmt::format(":{}", s.place.column);
    if (!source_.is_main(s.place))
      where = printable(s.place.file.substr(s.place.file.rfind('/') + 1)) + ":" + where;
    return where;
  }

  void write_site(const Site& s) {
    const double requests = static_cast<double>(s.requests);
    const std::string kind = std::string(s.space == Space::kShared ? "shared" : "global") +
                             (s.is_write ? " store" : " load");
    std::string where = site_place(s);
    if (display_width(where) > kPlaceWidth) {
      line("  " + clip(where, kWidth - 2));
      where.clear();
    }
    std::string text = fmt::format(
        "  {} {} {} {:>5} {:>11} {:>7.2f} {:>7.2f} {:>6.0f}%  ", pad(where, kPlaceWidth),
        pad(clip(printable(s.array), kArrayWidth), kArrayWidth), pad(kind, 12),
        std::to_string(s.bytes) + (s.width_is_compiled ? "*" : ""), s.requests,
        ratio(static_cast<double>(moved(s)), requests),
        ratio(static_cast<double>(ideal(s)), requests), 100 * excess(s));
    text += clip(site_note(s), std::max(4, kWidth - display_width(text)));
    while (text.back() == ' ') text.pop_back();
    line(is_warning(verdict(s)) ? paint(kYellow, text) : text);
  }

  void item(const std::string& name, const std::string& value) {
    std::vector<std::string> lines = wrap(value, kWidth, 22);
    if (lines.empty()) return;
    lines[0].replace(2, name.size(), name);
    for (const std::string& l : lines) line(l);
  }

  void write_summary(const KernelSummary& s) {
    const Totals& t = s.totals;
    heading("Totals" + (t.kernel.empty() ? "" : " of " + t.kernel));
    if (t.global_requests > 0)
      item(
          "global memory",
          fmt::format("{} requests, {} sectors ({} ideal); {} of {} bytes moved are used ({:.0f}%)",
                      t.global_requests, t.sectors, t.ideal_sectors, t.useful_bytes, t.moved_bytes,
                      100 * ratio(static_cast<double>(t.useful_bytes),
                                  static_cast<double>(t.moved_bytes))));
    if (t.shared_requests > 0)
      item("shared memory",
           fmt::format("{} requests, {} wavefronts ({} ideal, {} in excess)", t.shared_requests,
                       t.wavefronts, t.ideal_wavefronts,
                       t.wavefronts > t.ideal_wavefronts ? t.wavefronts - t.ideal_wavefronts : 0));
    if (!s.theory) return;
    const Theory& y = *s.theory;
    item("FLOP per byte",
         fmt::format("{:.2f} of bytes that threads asked for, {:.2f} of bytes moved in sectors, "
                     "{:.2f} if A, B and C were moved once ({:.0f} FLOP)",
                     y.intensity_requested, y.intensity_moved, y.intensity_compulsory, y.flop));
    item("loads of A and B",
         fmt::format("{:.0f} elements; without reuse {:.0f} (2MNK), so each is used {:.1f} times, "
                     "as in tiles of {:.1f} x {:.1f}",
                     y.loads, y.naive_loads, y.tile, y.tile, y.tile));
    if (y.share < 1)
      item("counted",
           fmt::format("{:.1f}% of the blocks; all counts are for these", 100 * y.share));
  }

  void write_compiled() {
    if (report_.compiled.empty()) return;
    heading("As compiled by nvcc");
    for (const Compiled& c : report_.compiled) {
      std::string text = fmt::format(
          "{} for {}: {} registers, {} bytes spilled, {} bytes of stack, {} bytes of static shared "
          "memory",
          c.kernel, c.architecture, c.registers, c.spill_bytes, c.stack_bytes,
          c.static_shared_bytes);
      if (c.blocks_per_sm > 0)
        text += fmt::format("; {} per multiprocessor, occupancy {:.0f}%, limited by {}",
                            plural(static_cast<std::uint64_t>(c.blocks_per_sm), "block"),
                            100 * c.occupancy, c.limited_by);
      else if (!c.limited_by.empty())
        text += "; does not fit on a multiprocessor: too much of " + c.limited_by;
      paragraph(text, 2);
    }
  }

  void write_warning(const Warning& w) {
    line();
    line(position(w.place) + ": " + paint(kYellow, "warning:") + " " +
         printable(w.rule + (w.array.empty() ? "" : " on " + w.array)));
    paragraph(w.message, 2);
    write_excerpt(w.place);
    if (!w.remedy.empty()) paragraph("remedy: " + w.remedy, 2);
  }

  void write_notes() {
    std::vector<std::string> notes = notes_of(report_);
    notes.erase(std::remove(notes.begin(), notes.end(), report_.hint), notes.end());
    if (notes.empty()) return;
    heading("Notes");
    for (const std::string& note : notes) paragraph(note, 2);
  }

  const Report& report_;
  SourceText source_;
  bool colour_;
  std::vector<Warning> warnings_;
  std::string out_;
};

}  // namespace

std::string text_report(const Report& report, bool colour) {
  return TextReport(report, colour).write();
}

}  // namespace tessera::simt
