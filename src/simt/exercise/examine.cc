#include "simt/exercise/examine.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/exercise/trial.h"
#include "simt/report/text.h"

namespace tessera::simt {
namespace {

void add_new(std::vector<Finding>& all, const std::vector<Finding>& more) {
  for (const Finding& f : more) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Finding& known) {
      return known.rule == f.rule && known.array == f.array && known.place == f.place &&
             known.other_place == f.other_place;
    });
    if (same == all.end()) {
      all.push_back(f);
    } else {
      same->count += f.count;
    }
  }
}

}  // namespace

Examination examine(CheckedProgram& program) {
  Examination out;
  for (const Sizes& sizes : exercise_sizes()) {
    const bool is_first = out.runs.empty();
    Report report = program.run(sizes, is_first && program.options().count);
    out.runs.push_back({sizes[0], sizes[1], sizes[2], report.check});
    if (is_first) {
      out.report = std::move(report);
      continue;
    }
    add_new(out.report.check.findings, report.check.findings);
    out.report.check.accesses += report.check.accesses;
    out.report.check.elapsed_s += report.check.elapsed_s;
    out.report.elapsed_s += report.elapsed_s;
  }
  out.verdict = judge_exercise(program.source(), out.runs, try_blanks(program, out.runs));
  // What computes something else does not compare.
  const std::vector<SizeVerdict>& sizes = out.verdict.sizes;
  const bool works = std::any_of(sizes.begin(), sizes.end(), [](auto& s) { return s.passed; });
  if (works) out.loads = compare_loads(out.report);
  return out;
}

std::string to_text(const Examination& examination) {
  const Report& report = examination.report;
  std::string out = fmt::format("{}: {}\n\n{}", printable(report.path),
                                examination.verdict.solved ? "solved" : "not solved yet",
                                to_text(examination.verdict));
  if (examination.loads) out += "\n" + to_text(*examination.loads);
  for (const Warning& w : warnings(report)) {
    out += fmt::format("\nslow, {}: {}\n  {}\n", printable(to_string(w.place)),
                       printable(w.message), printable(w.remedy));
  }
  return out;
}

Json to_json(const Examination& examination) {
  Json out = to_json(examination.verdict);
  out["loads"] = examination.loads ? to_json(*examination.loads) : Json();
  return out;
}

}  // namespace tessera::simt
