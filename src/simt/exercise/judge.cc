#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "simt/exercise/exercise.h"
#include "simt/gemm/tokens.h"

namespace tessera::simt {
namespace {

constexpr char kMark[] = "// Tessera exercise: tiled matrix product";
constexpr const char* kTasks[] = {"load", "barrier after the load", "accumulation",
                                  "barrier after the accumulation"};
constexpr int kLoad = 0, kFirstBarrier = 1, kAccumulate = 2, kSecondBarrier = 3, kNowhere = -1;

/// The answer's text, cut at its markers.
struct Answer {
  struct Blank {
    int first_line = 0, last_line = 0;
    bool found = false, empty = true, has_barrier = false;
    bool holds(int line) const { return found && line >= first_line && line <= last_line; }
  };
  std::array<Blank, 4> blanks;
};

/// The number behind ">>> blank " in a comment that stands alone, or -1.
int marked(const std::string& line, const std::string& arrow) {
  const std::size_t from = line.find_first_not_of(" \t");
  const std::string mark = "// " + arrow + " blank ";
  if (from == std::string::npos || line.compare(from, mark.size(), mark) != 0) return -1;
  const std::size_t at = from + mark.size();
  if (at >= line.size() || line[at] < '1' || line[at] > '4') return -1;
  return line[at] - '1';
}

Answer read(const std::string& source) {
  Answer out;
  std::istringstream in(source);
  std::string line, inside;
  int open = -1, number = 0;
  while (std::getline(in, line)) {
    ++number;
    if (const int begins = marked(line, ">>>"); begins >= 0) {
      open = begins;
      inside.clear();
      out.blanks[static_cast<std::size_t>(open)].first_line = number;
      continue;
    }
    if (const int ends = marked(line, "<<<"); ends >= 0) {
      if (ends == open) {
        Answer::Blank& blank = out.blanks[static_cast<std::size_t>(open)];
        blank.last_line = number;
        blank.found = true;
        const std::vector<std::string> words = tokens(inside);
        // A stray semicolon is no answer.
        blank.empty =
            std::all_of(words.begin(), words.end(), [](const std::string& w) { return w == ";"; });
        blank.has_barrier = std::any_of(words.begin(), words.end(), [](const std::string& w) {
          return w.rfind("__syncthreads", 0) == 0 || w == "sync" || w == "arrive_and_wait";
        });
      }
      open = -1;
      continue;
    }
    inside += line + "\n";
  }
  return out;
}

/// "read-after-write on s_a, lines 31 and 44".
std::string hazard(const Finding& f, const char* name) {
  std::string out = std::string("hazard: ") + name;
  if (!f.array.empty()) out += " on " + f.array;
  int first = f.place.line, second = f.other_place ? f.other_place->line : 0;
  if (first > second) std::swap(first, second);
  if (first > 0 && first != second) {
    out += fmt::format(", lines {} and {}", first, second);
  } else if (second > 0) {
    out += fmt::format(", line {}", second);
  }
  return out;
}

class Examiner {
 public:
  Examiner(const std::string& source, const std::vector<SizeRun>& runs)
      : answer_(read(source)), runs_(runs) {}

  ExerciseVerdict examine() {
    for (std::size_t i = 0; i < 4; ++i) {
      BlankVerdict& blank = out_.blanks[i];
      blank.number = static_cast<int>(i) + 1;
      blank.task = kTasks[i];
      blank.first_line = answer_.blanks[i].first_line;
      blank.last_line = answer_.blanks[i].last_line;
    }
    for (const SizeRun& run : runs_) assign(run);
    blame_guards();
    for (int i = 0; i < 4; ++i) decide(i);
    out_.solved = !runs_.empty() && passed() == runs_.size() &&
                  std::all_of(out_.blanks.begin(), out_.blanks.end(),
                              [](const BlankVerdict& b) { return b.state == BlankState::kRight; });
    summarise();
    return std::move(out_);
  }

 private:
  BlankVerdict& blank(int i) { return out_.blanks[static_cast<std::size_t>(i)]; }
  const Answer::Blank& text(int i) const { return answer_.blanks[static_cast<std::size_t>(i)]; }
  bool is_filled(int i) const { return text(i).found && !text(i).empty; }

  std::size_t passed() const {
    return static_cast<std::size_t>(std::count_if(out_.sizes.begin(), out_.sizes.end(),
                                                  [](const SizeVerdict& s) { return s.passed; }));
  }

  void assign(const SizeRun& run) {
    const std::vector<Finding>& findings = run.run.findings;
    out_.sizes.push_back({run.m, run.n, run.k, findings.empty() && run.run.exit_code == 0,
                          findings.empty() ? "" : findings[0].rule});
    const bool has_race = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
      return f.rule == rule::kSharedRaw || f.rule == rule::kSharedWar ||
             f.rule == rule::kSharedWaw || f.rule == rule::kWarpSync;
    });
    for (const Finding& f : findings) {
      const bool follows = f.rule == rule::kWrongResult && has_race;
      const int where = blank_of(f);
      // A wrong value beside a race may be the race's; the race says more.
      if (follows && is_filled(kLoad) && is_filled(kAccumulate)) continue;
      std::vector<Finding>& list = where == kNowhere ? out_.others : blank(where).findings;
      const bool known = std::any_of(list.begin(), list.end(), [&](const Finding& other) {
        return other.rule == f.rule && other.place == f.place && other.array == f.array;
      });
      if (!known) list.push_back(f);
    }
  }

  int at_line(const Finding& f, int otherwise) const {
    for (int i = 0; i < 4; ++i) {
      if (text(i).holds(f.place.line)) return i;
    }
    return otherwise;
  }

  /// The blank whose fault a finding is.
  int blank_of(const Finding& f) const {
    if (f.rule == rule::kSharedRaw) return kFirstBarrier;
    if (f.rule == rule::kSharedWar) return kSecondBarrier;
    if (f.rule == rule::kSharedWaw) return kLoad;
    if (f.rule == rule::kWarpSync) {
      return text(kLoad).holds(f.place.line) ? kSecondBarrier : kFirstBarrier;
    }
    if (f.rule == rule::kUninitialisedShared) return kLoad;
    if (f.rule == rule::kWrongResult) {
      if (is_filled(kAccumulate) && !is_filled(kLoad)) return kLoad;
      return f.array == "A" || f.array == "B" ? kLoad : kAccumulate;
    }
    if (f.rule == rule::kGlobalBounds || f.rule == rule::kRowOverrun ||
        f.rule == rule::kUninitialisedGlobal) {
      return at_line(f, kLoad);
    }
    if (f.rule == rule::kBarrierDivergence || f.rule == rule::kEarlyReturn ||
        f.rule == rule::kDeadlock) {
      return at_line(f, kFirstBarrier);
    }
    return at_line(f, kNowhere);
  }

  /// Whole tiles pass, others do not, and nothing else says why: the guards are at fault.
  void blame_guards() {
    const bool named = std::any_of(out_.blanks.begin(), out_.blanks.end(),
                                   [](const BlankVerdict& b) { return !b.findings.empty(); });
    if (named || passed() == 0 || passed() == out_.sizes.size() || !is_filled(kLoad)) return;
    blank(kLoad).state = BlankState::kWrong;
  }

  void decide(int i) {
    BlankVerdict& b = blank(i);
    if (!text(i).found) {
      b.state = BlankState::kLost;
      b.verdict = "its marker lines are gone";
      b.remedy =
          fmt::format("put '// >>> blank {0}' before and '// <<< blank {0}' behind it", b.number);
      return;
    }
    const bool is_barrier = i == kFirstBarrier || i == kSecondBarrier;
    if (is_barrier) {
      decide_barrier(i);
    } else if (text(i).empty) {
      b.state = BlankState::kEmpty;
      b.verdict = i == kLoad ? "empty: nothing is stored to the tiles" : "empty: the sum stays 0";
      b.remedy = i == kLoad ? "store one element of A and one of B, or 0 outside of the matrix"
                            : "add kTile products to sum";
    } else if (!b.findings.empty()) {
      b.state = BlankState::kWrong;
      b.verdict = "wrong: " + b.findings[0].message;
      b.remedy = b.findings[0].remedy;
    } else if (b.state == BlankState::kWrong) {
      b.verdict = "wrong at sizes that are no multiple of the tile";
      b.remedy = "guard each load by the bounds of its own matrix, and store 0 outside";
    } else {
      settle(b);
    }
  }

  void decide_barrier(int i) {
    BlankVerdict& b = blank(i);
    const bool first = i == kFirstBarrier;
    const char* name = first ? "read-after-write" : "write-after-read";
    const bool missing = !text(i).has_barrier;
    if (missing) {
      b.state = text(i).empty ? BlankState::kEmpty : BlankState::kWrong;
      b.verdict = text(i).empty ? "missing" : "it has no barrier";
      b.remedy = first ? "wait with __syncthreads() until every thread has stored its elements"
                       : "wait with __syncthreads() until every thread is done reading";
    }
    const auto race = std::find_if(b.findings.begin(), b.findings.end(), [&](const Finding& f) {
      return f.rule == (first ? rule::kSharedRaw : rule::kSharedWar) || f.rule == rule::kWarpSync;
    });
    if (race != b.findings.end()) {
      if (!missing) {
        b.state = BlankState::kWrong;
        b.verdict = "a barrier is there, but the tiles are used on both sides of it";
        b.remedy = race->remedy;
      }
      b.verdict += "; " + hazard(*race, name);
    } else if (missing) {
      b.verdict += fmt::format("; hazard: {}, which shows once the other blanks are right", name);
    } else if (!b.findings.empty()) {
      b.state = BlankState::kWrong;
      b.verdict = "wrong: " + b.findings[0].message;
      b.remedy = b.findings[0].remedy;
    } else {
      settle(b);
    }
  }

  /// Nothing speaks against it; it is right if the code around it ran.
  void settle(BlankVerdict& b) const {
    const bool ran = is_filled(kLoad) && is_filled(kAccumulate) && !runs_.empty();
    b.state = ran ? BlankState::kRight : BlankState::kUnseen;
    b.verdict = ran ? "right" : "not judged: it shows only once blanks 1 and 3 are filled";
  }

  void summarise() {
    std::string works, fails;
    for (const SizeVerdict& s : out_.sizes) {
      std::string& list = s.passed ? works : fails;
      list += (list.empty() ? "" : ", ") + fmt::format("{}x{}x{}", s.m, s.n, s.k);
    }
    if (out_.sizes.empty()) {
      out_.summary = "it was not run";
    } else if (works.empty()) {
      out_.summary = "no size works";
    } else if (!fails.empty()) {
      out_.summary = "works for " + works + "; fails for " + fails;
    } else {
      out_.summary = out_.solved ? "solved: every size works" : "every size works";
    }
  }

  Answer answer_;
  const std::vector<SizeRun>& runs_;
  ExerciseVerdict out_;
};

}  // namespace

bool is_exercise(const std::string& source) {
  std::istringstream in(source);
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(kMark, 0) == 0) return true;
  }
  return false;
}

std::vector<std::array<std::int64_t, 3>> exercise_sizes() {
  return {{64, 64, 64}, {16, 16, 16}, {65, 64, 64}, {64, 65, 64}, {64, 64, 65}, {33, 47, 21}};
}

ExerciseVerdict judge_exercise(const std::string& source, const std::vector<SizeRun>& runs) {
  return Examiner(source, runs).examine();
}

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
  for (const BlankVerdict& b : verdict.blanks) {
    out += fmt::format("blank {} ({}): {}\n", b.number, b.task, b.verdict);
    if (!b.remedy.empty()) out += fmt::format("  {}\n", b.remedy);
  }
  for (const Finding& f : verdict.others) {
    out += fmt::format("outside of the blanks, {}: {}\n", to_string(f.place), f.message);
  }
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
