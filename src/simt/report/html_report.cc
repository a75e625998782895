// The annotated listing: one page without scripts and without anything from elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "simt/report/html_style.h"
#include "simt/report/html_text.h"
#include "simt/report/quality.h"
#include "simt/report/report.h"
#include "simt/report/rules.h"
#include "simt/report/source_text.h"
#include "simt/report/summary.h"
#include "simt/report/text.h"

namespace tessera::simt {
namespace {

std::string escaped(const std::string& text) { return html_escaped(printable(text)); }

std::string number(double x, int digits = 2) { return fmt::format("{:.{}f}", x, digits); }

// Colours by excess: up to a tenth, up to the double, up to four times, beyond.
int heat_of(double excess) {
  return excess < kMinConflictExcess ? 0 : excess < 1 ? 1 : excess < 3 ? 2 : 3;
}
constexpr const char* kHeatNames[] = {"at its ideal", "up to twice its ideal",
                                      "up to four times its ideal", "more"};

std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }
std::string number_cell(const std::string& text) {
  return "<td class=\"number\">" + text + "</td>";
}
std::string head(const std::string& text, bool is_number = false) {
  return std::string("<th scope=\"col\"") + (is_number ? " class=\"number\"" : "") + ">" + text +
         "</th>";
}

std::string extent(const std::array<unsigned, 3>& x) {
  return fmt::format("{} × {} × {}", x[0], x[1], x[2]);
}

struct OnLine {
  std::vector<const Finding*> findings;
  std::vector<const Finding*> others;  ///< whose other access is here
  std::vector<const Warning*> warnings;
  std::vector<const Site*> sites;
};

class HtmlReport {
 public:
  explicit HtmlReport(const Report& report)
      : report_(report),
        source_(report),
        warnings_(warnings(report)),
        sites_(sorted_sites(report)) {
    for (const Finding& f : report_.check.findings) {
      at(f.place).findings.push_back(&f);
      if (f.other_place && !(*f.other_place == f.place)) at(*f.other_place).others.push_back(&f);
    }
    for (const Warning& w : warnings_) at(w.place).warnings.push_back(&w);
    for (const Site& s : sites_) at(s.place).sites.push_back(&s);
  }

  std::string write() {
    out_ =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>tessera check: " +
        escaped(report_.path) + "</title>\n<style>" + kHtmlStyle + "</style>\n</head>\n<body>\n";
    out_ += "<main>\n";
    write_top();
    write_legend();
    write_listing();
    write_elsewhere();
    write_launches();
    write_totals();
    write_compiled();
    write_notes();
    out_ += "</main>\n</body>\n</html>\n";
    return out_;
  }

 private:
  // Lines of the checked source by number; everything else by file and line.
  OnLine& at(const Place& p) {
    const bool is_listed =
        source_.is_main(p) && p.line > 0 && p.line <= static_cast<int>(source_.lines().size());
    return is_listed ? listed_[p.line] : elsewhere_[to_string(p)];
  }

  void write_top() {
    const char* look = report_.failed() ? "failed" : "passed";
    out_ += "<h1>" + escaped(report_.path) + "</h1>\n<p class=\"verdict " + look + "\">" +
            escaped(verdict_text(report_, warnings_.size())) + "</p>\n";
    if (!report_.how.empty())
      out_ += "<p class=\"dim\">Launched with " + escaped(report_.how) + "</p>\n";
    if (report_.check.findings.empty() && warnings_.empty()) return;
    out_ += "<ul>\n";
    for (const Finding& f : report_.check.findings)
      write_top_item(f.place, f.rule, f.array + f.element, f.message, "failed");
    for (const Warning& w : warnings_) write_top_item(w.place, w.rule, w.array, w.message, "dim");
    out_ += "</ul>\n";
  }

  void write_top_item(const Place& place, const std::string& rule, const std::string& what,
                      const std::string& message, const char* look) {
    const std::string where = escaped(to_string(place));
    const bool is_listed = source_.is_main(place) && place.line > 0 &&
                           place.line <= static_cast<int>(source_.lines().size());
    out_ += "<li>";
    out_ += is_listed ? fmt::format("<a href=\"#L{}\">{}</a>", place.line, where) : where;
    out_ += fmt::format(": <span class=\"{}\">{}</span>", look, escaped(rule));
    if (!what.empty()) out_ += " on <code>" + escaped(what) + "</code>";
    out_ += ": " + escaped(message) + "</li>\n";
  }

  void write_legend() {
    out_ += "<h2>Legend</h2>\n<p><span class=\"swatch red\"></span>line with a finding ";
    for (int heat = 0; heat < 4; ++heat)
      out_ += fmt::format("&#160; <span class=\"swatch heat{}\"></span>{}", heat, kHeatNames[heat]);
    out_ +=
        "</p>\n<p class=\"dim\">The shade of a line is its worst access: 32-byte sectors of global "
        "memory, wavefronts of shared memory, against the fewest that could carry the same data. "
        "Marks before the text: ! finding, &lt; the other access of a race, ~ warning.</p>\n";
  }

  void write_listing() {
    out_ +=
        "<h2>Source</h2>\n<div class=\"source\" role=\"region\" aria-label=\"Source\" "
        "tabindex=\"0\">\n";
    const OnLine nothing;
    for (std::size_t i = 0; i < source_.lines().size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      const auto found = listed_.find(line);
      const OnLine& on = found == listed_.end() ? nothing : found->second;
      write_row(line, source_.lines()[i], on);
      write_under(on);
    }
    out_ += "</div>\n";
  }

  static std::string row_class(const OnLine& on) {
    std::string look = "row";
    if (!on.findings.empty()) return look + " finding";
    if (!on.others.empty())
      look += " other";
    else if (!on.warnings.empty())
      look += " warning";
    double worst = 0;
    for (const Site* s : on.sites)
      worst = std::max(worst, is_warning(verdict(*s)) ? excess(*s) : 0);
    if (!on.sites.empty()) look += fmt::format(" heat{}", heat_of(worst));
    return look;
  }

  void write_row(int line, const std::string& text, const OnLine& on) {
    const char* mark = !on.findings.empty()   ? "!"
                       : !on.others.empty()   ? "&lt;"
                       : !on.warnings.empty() ? "~"
                                              : " ";
    out_ += fmt::format(
        "<div class=\"{}\" id=\"L{}\"><span class=\"line\">{}</span><span "
        "class=\"mark\">{}</span><span>{}</span></div>\n",
        row_class(on), line, line, mark, escaped(text));
  }

  void write_under(const OnLine& on) {
    for (const Finding* f : on.findings) write_finding(*f);
    for (const Warning* w : on.warnings) write_warning(*w);
    if (on.sites.empty()) return;
    // Beside a warning the counts are wanted at once; elsewhere they would hide the source.
    out_ += std::string("<details class=\"under\"") + (on.warnings.empty() ? "" : " open") +
            "><summary>" + plural(on.sites.size(), "access") + "</summary>\n";
    write_sites(on.sites);
    out_ += "</details>\n";
  }

  void write_finding(const Finding& f) {
    out_ += "<details class=\"under finding\" open><summary>" + escaped(f.rule);
    if (!f.array.empty()) out_ += " on " + escaped(f.array + f.element);
    out_ += "</summary>\n<p>" + escaped(f.message) + "</p>\n";
    if (f.other_place) {
      const bool is_listed = source_.is_main(*f.other_place) && f.other_place->line > 0;
      const std::string where = escaped(to_string(*f.other_place));
      out_ +=
          "<p>The other access: " +
          (is_listed ? fmt::format("<a href=\"#L{}\">{}</a>", f.other_place->line, where) : where) +
          "</p>\n";
    }
    std::string who;
    if (f.thread) who = to_string(*f.thread);
    if (f.other_thread) who += (who.empty() ? "" : " and ") + to_string(*f.other_thread);
    if (!f.phase_text.empty()) who += (who.empty() ? "" : "; ") + f.phase_text;
    if (!f.kernel.empty()) who += (who.empty() ? "" : "; ") + ("kernel " + f.kernel);
    if (f.count > 1) who += fmt::format("; seen {} times", f.count);
    if (!who.empty()) out_ += "<p class=\"dim\">" + escaped(who) + "</p>\n";
    if (const RuleText* rule = find_rule(f.rule))
      out_ += std::string("<p class=\"dim\">") + escaped(rule->harm) + "</p>\n";
    if (!f.remedy.empty()) out_ += "<p><strong>Remedy:</strong> " + escaped(f.remedy) + "</p>\n";
    out_ += "</details>\n";
  }

  void write_warning(const Warning& w) {
    out_ += "<details class=\"under warning\"><summary>" + escaped(w.rule);
    if (!w.array.empty()) out_ += " on " + escaped(w.array);
    out_ += "</summary>\n<p>" + escaped(w.message) + "</p>\n";
    if (!w.remedy.empty()) out_ += "<p><strong>Remedy:</strong> " + escaped(w.remedy) + "</p>\n";
    out_ += "</details>\n";
  }

  void write_sites(const std::vector<const Site*>& sites) {
    out_ += "<div class=\"scroll\"><table>\n<tr>" + head("kernel") + head("column", true) +
            head("array") + head("access") + head("bytes", true) + head("requests", true) +
            head("moved", true) + head("each", true) + head("ideal", true) + head("excess", true) +
            head("note") + "</tr>\n";
    for (const Site* s : sites) {
      const bool shared = s->space == Space::kShared;
      const double requests = static_cast<double>(s->requests);
      out_ += "<tr>" + cell(escaped(s->kernel)) +
              number_cell(s->place.column > 0 ? std::to_string(s->place.column) : "") +
              cell(escaped(s->array)) +
              cell(std::string(shared ? "shared " : "global ") + (s->is_write ? "store" : "load")) +
              number_cell(std::to_string(s->bytes) + (s->width_is_compiled ? "*" : "")) +
              number_cell(std::to_string(s->requests)) +
              number_cell(fmt::format("{} {}", moved(*s), shared ? "wavefronts" : "sectors")) +
              number_cell(number(ratio(static_cast<double>(moved(*s)), requests))) +
              number_cell(number(ratio(static_cast<double>(ideal(*s)), requests))) +
              number_cell(number(100 * excess(*s), 0) + "%") + cell(escaped(site_note(*s))) +
              "</tr>\n";
    }
    out_ += "</table></div>\n";
    if (std::any_of(sites.begin(), sites.end(), [](auto* s) { return s->width_is_compiled; }))
      out_ += "<p class=\"dim\">* width as compiled by nvcc</p>\n";
  }

  void write_elsewhere() {
    if (elsewhere_.empty()) return;
    out_ += "<h2>In other files</h2>\n";
    for (const auto& [where, on] : elsewhere_) {
      out_ += "<p><code>" + escaped(where) + "</code></p>\n";
      write_under(on);
    }
  }

  void write_launches() {
    const auto& launches = launches_of(report_);
    if (launches.empty()) return;
    out_ += "<h2>Launches</h2>\n<div class=\"scroll\"><table>\n<tr>" + head("kernel") +
            head("line") + head("grid") + head("block") + head("shared bytes", true) +
            head("blocks checked", true) + head("times", true) + head("product") + "</tr>\n";
    for (const Launch& l : launches)
      out_ += "<tr>" + cell(escaped(l.kernel)) + cell(escaped(to_string(l.place))) +
              cell(extent(l.grid)) + cell(extent(l.block)) +
              number_cell(std::to_string(l.static_shared_bytes + l.dynamic_shared_bytes)) +
              number_cell(fmt::format("{} of {}", l.blocks_checked, l.blocks_total)) +
              number_cell(std::to_string(l.repeats)) + cell(escaped(l.gemm)) + "</tr>\n";
    out_ += "</table></div>\n";
  }

  void fact(const std::string& name, const std::string& value) {
    out_ += "<tr><th scope=\"row\">" + name + "</th>" + number_cell(value) + "</tr>\n";
  }

  void write_totals() {
    for (const KernelSummary& s : summaries(report_)) {
      const Totals& t = s.totals;
      out_ +=
          "<h2>Totals" + (t.kernel.empty() ? "" : " of " + escaped(t.kernel)) + "</h2>\n<table>\n";
      fact("Global requests", std::to_string(t.global_requests));
      fact("Sectors", fmt::format("{} ({} ideal)", t.sectors, t.ideal_sectors));
      fact("Bytes used of bytes moved",
           fmt::format("{} of {} ({:.0f}%)", t.useful_bytes, t.moved_bytes,
                       100 * ratio(static_cast<double>(t.useful_bytes),
                                   static_cast<double>(t.moved_bytes))));
      fact("Shared requests", std::to_string(t.shared_requests));
      fact("Wavefronts", fmt::format("{} ({} ideal)", t.wavefronts, t.ideal_wavefronts));
      if (s.theory) write_theory(*s.theory);
      out_ += "</table>\n";
    }
  }

  void write_theory(const Theory& y) {
    fact("FLOP (2MNK)", number(y.flop, 0));
    fact("FLOP per byte that threads asked for", number(y.intensity_requested));
    fact("FLOP per byte moved in sectors", number(y.intensity_moved));
    fact("FLOP per byte if A, B and C were moved once", number(y.intensity_compulsory));
    fact("Elements of A and B loaded",
         fmt::format("{:.0f} of {:.0f} without reuse", y.loads, y.naive_loads));
    fact("Reuse, as in square tiles of", number(y.tile, 1));
    if (y.share < 1) fact("Blocks counted", number(100 * y.share, 1) + "%");
  }

  void write_compiled() {
    if (report_.compiled.empty()) return;
    out_ += "<h2>As compiled by nvcc</h2>\n<div class=\"scroll\"><table>\n<tr>" + head("kernel") +
            head("for") + head("registers", true) + head("bytes spilled", true) +
            head("bytes of stack", true) + head("static shared bytes", true) +
            head("blocks per multiprocessor", true) + head("occupancy", true) + head("limited by") +
            "</tr>\n";
    for (const Compiled& c : report_.compiled)
      out_ +=
          "<tr>" + cell(escaped(c.kernel)) + cell(escaped(c.architecture)) +
          number_cell(std::to_string(c.registers)) + number_cell(std::to_string(c.spill_bytes)) +
          number_cell(std::to_string(c.stack_bytes)) +
          number_cell(std::to_string(c.static_shared_bytes)) +
          number_cell(std::to_string(c.blocks_per_sm)) +
          number_cell(number(100 * c.occupancy, 0) + "%") + cell(escaped(c.limited_by)) + "</tr>\n";
    out_ += "</table></div>\n";
  }

  void write_notes() {
    const std::vector<std::string> notes = notes_of(report_);
    if (notes.empty()) return;
    out_ += "<h2>Notes</h2>\n<ul>\n";
    for (const std::string& note : notes) out_ += "<li>" + escaped(note) + "</li>\n";
    out_ += "</ul>\n";
  }

  const Report& report_;
  SourceText source_;
  std::vector<Warning> warnings_;
  std::vector<Site> sites_;
  std::map<int, OnLine> listed_;
  std::map<std::string, OnLine> elsewhere_;
  std::string out_;
};

}  // namespace

std::string html_report(const Report& report) { return HtmlReport(report).write(); }

}  // namespace tessera::simt
