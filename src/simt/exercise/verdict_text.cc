// Verdicts as text and JSON.
#include <fmt/format.h>

#include "simt/exercise/exercise.h"
#include "simt/report/text.h"

namespace tessera::simt {

const char* to_string(BlankState state) {
  switch (state) {
    case BlankState::kRight:
      return "right";
    case BlankState::kEmpty:
      return "empty";
    case BlankState::kWrong:
      return "wrong";
    case BlankState::kUnseen:
      return "not judged";
    case BlankState::kLost:
      break;
  }
  return "markers lost";
}

std::string to_text(const ExerciseVerdict& verdict) {
  std::string out;
  const auto paragraph = [&](const std::string& text, std::size_t indent = 0) {
    constexpr int kWidth = 98;
    for (const std::string& line : wrap(printable(text), kWidth, 0)) {
      out += std::string(indent, ' ') + line + "\n";
      indent = 2;
    }
  };
  for (const BlankVerdict& b : verdict.blanks) {
    paragraph(fmt::format("blank {} ({}): {}", b.number, b.task, b.verdict));
    if (!b.remedy.empty()) paragraph("remedy: " + b.remedy, 2);
  }
  for (const Finding& f : verdict.others) {
    paragraph(fmt::format("outside of the blanks, {}: {}", to_string(f.place), f.message));
  }
  out += "\n";
  for (const SizeVerdict& s : verdict.sizes) {
    out += fmt::format("{}x{}x{}: {}\n", s.m, s.n, s.k,
                       s.passed         ? "works"
                       : s.rule.empty() ? "fails"
                                        : "fails, " + s.rule);
  }
  return out + verdict.summary + "\n";
}

Json to_json(const ExerciseVerdict& verdict) {
  const auto rules = [](const std::vector<Finding>& findings) {
    RunResult all;
    all.findings = findings;
    return to_json(all).at("findings");
  };
  Json blanks = Json::array(), sizes = Json::array();
  for (const BlankVerdict& b : verdict.blanks) {
    blanks.push_back({{"number", b.number},
                      {"task", b.task},
                      {"state", to_string(b.state)},
                      {"first_line", b.first_line},
                      {"last_line", b.last_line},
                      {"verdict", b.verdict},
                      {"remedy", b.remedy},
                      {"findings", rules(b.findings)}});
  }
  for (const SizeVerdict& s : verdict.sizes) {
    sizes.push_back({{"m", s.m}, {"n", s.n}, {"k", s.k}, {"passed", s.passed}, {"rule", s.rule}});
  }
  return {{"solved", verdict.solved},
          {"summary", verdict.summary},
          {"blanks", blanks},
          {"sizes", sizes},
          {"others", rules(verdict.others)}};
}

}  // namespace tessera::simt
