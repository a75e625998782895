#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "simt/exercise/answer.h"
#include "simt/exercise/exercise.h"
#include "simt/source/edits.h"

namespace tessera::simt {
namespace {

constexpr char kMark[] = "// Tessera exercise: tiled matrix product";
constexpr const char* kTasks[] = {"load", "barrier after the load", "accumulation",
                                  "barrier after the accumulation"};
constexpr int kNowhere = -1;

/// "read-after-write on s_a, lines 31 and 44".
std::string hazard(const Finding& f, const char* name) {
  std::string out = fmt::format("hazard: {}", name);
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
  Examiner(const std::string& source, const std::vector<SizeRun>& runs,
           const std::vector<BlankTrial>& trials)
      : answer_(read_answer(source)), runs_(runs), trials_(trials) {}

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
    heed_trials();
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
  bool is_filled(int i) const { return text(i).is_filled(); }
  bool is_tried(int i) const {
    return std::any_of(trials_.begin(), trials_.end(),
                       [&](const BlankTrial& t) { return t.number == i + 1; });
  }

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
      add_new(where == kNowhere ? out_.others : blank(where).findings, f);
    }
  }

  static void add_new(std::vector<Finding>& list, const Finding& f) {
    const bool known = std::any_of(list.begin(), list.end(), [&](const Finding& other) {
      return other.rule == f.rule && other.place == f.place && other.array == f.array;
    });
    if (!known) list.push_back(f);
  }

  /// Where each blank was tried alone, nothing needs to be guessed from a finding's place: a blank
  /// has what its trial found, and what plain barriers seem to do wrong is others' doing.
  void heed_trials() {
    bool explained = false;
    for (const BlankTrial& trial : trials_) {
      BlankVerdict& b = blank(trial.number - 1);
      b.findings.clear();
      b.state = BlankState::kUnseen;
      for (const SizeRun& run : trial.runs) {
        for (const Finding& f : run.run.findings) {
          if (f.rule != rule::kLaunch) add_new(b.findings, in_the_answer(f));
        }
      }
      std::stable_sort(b.findings.begin(), b.findings.end(),
                       [](const Finding& x, const Finding& y) { return rank(x) < rank(y); });
      explained = explained || !b.findings.empty();
    }
    if (!explained) return;
    for (int i = 0; i < 4; ++i) {
      if (!is_tried(i) && text(i).plain_barrier) blank(i).findings.clear();
    }
    std::erase_if(out_.others, [](const Finding& f) { return f.rule != rule::kLaunch; });
  }

  /// Of two places that work together, a trial has one in text that is not the answer's. The
  /// answer's own run tells it better, if it found the same.
  const Finding& in_the_answer(const Finding& f) const {
    constexpr const char* kOfTwo[] = {
        rule::kEarlyReturn, rule::kBarrierDivergence, rule::kDeadlock, rule::kSharedRaw,
        rule::kSharedWar,   rule::kSharedWaw,         rule::kWarpSync};
    if (std::find(std::begin(kOfTwo), std::end(kOfTwo), f.rule) == std::end(kOfTwo)) return f;
    for (const SizeRun& run : runs_) {
      for (const Finding& own : run.run.findings) {
        if (own.rule == f.rule) return own;
      }
    }
    return f;
  }

  /// The lower, the nearer to the cause: what comes later may follow from it.
  static int rank(const Finding& f) {
    const char* order[] = {rule::kEarlyReturn, rule::kBarrierDivergence, rule::kDeadlock,
                           rule::kIndexBounds, rule::kSharedBounds,      rule::kGlobalBounds,
                           rule::kRowOverrun,  rule::kSharedRaw,         rule::kSharedWar,
                           rule::kSharedWaw,   rule::kWarpSync,          rule::kUninitialisedShared,
                           rule::kWrongResult};
    return static_cast<int>(std::find(std::begin(order), std::end(order), f.rule) - order);
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
      return f.at_fault == "A" || f.at_fault == "B" ? kLoad : kAccumulate;
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
      b.verdict = i == kLoad ? "empty: nothing is stored to the tiles"
                             : "empty: nothing is added to the sum";
      b.remedy = i == kLoad ? "store one element of A and one of B, or 0 outside of the matrix"
                            : "add kTile products to sum";
      if (all_passed() && is_filled(kLoad)) b.verdict = "empty: its part stands in another blank";
    } else if (!b.findings.empty()) {
      b.state = BlankState::kWrong;
      b.verdict = "wrong: " + b.findings[0].message;
      b.remedy = remedy_of(i, b.findings[0]);
    } else if (all_passed() && i == kAccumulate && !is_filled(kLoad)) {
      b.state = BlankState::kWrong;
      b.verdict = "wrong: it works without the tiles, so each use loads its element again";
      b.remedy = "add products of elements of s_a and s_b";
    } else if (b.state == BlankState::kWrong) {
      b.verdict = "wrong at sizes that are no multiple of the tile";
      b.remedy = "guard each load by the bounds of its own matrix, and store 0 outside";
    } else {
      settle(i);
    }
  }

  /// In the words of the exercise where the general ones leave more to find out.
  static std::string remedy_of(int i, const Finding& f) {
    const bool is_bound = f.rule == rule::kGlobalBounds || f.rule == rule::kRowOverrun;
    if (i == kLoad && is_bound && f.array == "A") {
      return "load A[row * K + column] only where row < M and column < K, and store 0 otherwise";
    }
    if (i == kLoad && is_bound && f.array == "B") {
      return "load B[row * N + column] only where row < K and column < N, and store 0 otherwise";
    }
    // What the judge says when it knows no fault that gives such numbers.
    if (f.remedy.rfind("compare a single element", 0) != 0) return f.remedy;
    return i == kLoad ? "in step t, s_a[ty][tx] takes A[row][t * kTile + tx] and s_b[ty][tx] takes "
                        "B[t * kTile + ty][col], each 0 outside of its matrix"
                      : "add s_a[ty][p] * s_b[p][tx] to sum for each p from 0 to kTile - 1, once";
  }

  bool all_passed() const { return !out_.sizes.empty() && passed() == out_.sizes.size(); }

  void decide_barrier(int i) {
    BlankVerdict& b = blank(i);
    const bool first = i == kFirstBarrier;
    const auto race = std::find_if(b.findings.begin(), b.findings.end(), [&](const Finding& f) {
      return f.rule == (first ? rule::kSharedRaw : rule::kSharedWar) || f.rule == rule::kWarpSync;
    });
    const std::string race_text =
        race == b.findings.end()
            ? ""
            : "; " + hazard(*race, first ? "read-after-write" : "write-after-read");
    if (text(i).barriers == 0) {
      decide_missing(i, race_text);
    } else if (b.findings.empty()) {
      settle(i);
    } else {
      b.state = BlankState::kWrong;
      b.remedy = b.findings[0].remedy;
      if (misses_threads(b.findings[0])) {
        b.verdict = "wrong: not every thread of the block reaches its barrier";
        b.remedy =
            "let every thread of the block reach it: no condition, return or break around it";
        b.verdict += race_text.empty() ? ": " + b.findings[0].message : race_text;
      } else if (!race_text.empty()) {
        b.verdict = "wrong: a barrier is there, but the tiles are used on both sides of it";
        b.verdict += race_text;
        b.remedy = race->remedy;
      } else {
        b.verdict = "wrong: " + b.findings[0].message;
      }
    }
  }

  static bool misses_threads(const Finding& f) {
    return f.rule == rule::kEarlyReturn || f.rule == rule::kBarrierDivergence ||
           f.rule == rule::kDeadlock;
  }

  void decide_missing(int i, const std::string& race_text) {
    BlankVerdict& b = blank(i);
    const bool first = i == kFirstBarrier;
    int barriers = 0;
    for (const Answer::Blank& other : answer_.blanks) barriers += other.barriers;
    if (all_passed() && barriers > 1) {
      b.state = BlankState::kRight;
      b.verdict = "right: its barrier stands in another blank";
      return;
    }
    b.state = text(i).empty ? BlankState::kEmpty : BlankState::kWrong;
    b.verdict = text(i).empty ? "missing" : "wrong: it has no barrier";
    b.remedy = first ? "wait with __syncthreads() until every thread has stored its elements"
                     : "wait with __syncthreads() until every thread is done reading";
    if (!race_text.empty()) {
      b.verdict += race_text;
    } else if (first) {
      b.verdict +=
          "; hazard: read-after-write: a thread may read an element before another has stored it";
    } else {
      b.verdict +=
          "; hazard: write-after-read: a fast thread may store the next tile over an element that "
          "a slow one has still to read";
    }
  }

  /// Nothing speaks against it; it is right if it was seen at work.
  void settle(int i) {
    BlankVerdict& b = blank(i);
    const bool ran = is_filled(kLoad) && is_filled(kAccumulate) && !runs_.empty();
    const bool right = ran || is_tried(i) || text(i).plain_barrier || all_passed();
    b.state = right ? BlankState::kRight : BlankState::kUnseen;
    b.verdict = right ? "right" : "not judged: it shows only once blanks 1 and 3 are filled";
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
      out_.summary = out_.solved ? "solved: every size works"
                                 : "every size works, but not every blank holds its part";
    }
  }

  Answer answer_;
  const std::vector<SizeRun>& runs_;
  const std::vector<BlankTrial>& trials_;
  ExerciseVerdict out_;
};

}  // namespace

bool is_exercise(const std::string& source) {
  std::istringstream in{std::string(without_mark(source))};
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(kMark, 0) == 0) return true;
  }
  return false;
}

std::vector<std::array<std::int64_t, 3>> exercise_sizes() {
  return {{64, 64, 64}, {16, 16, 16}, {65, 64, 64}, {64, 65, 64}, {64, 64, 65}, {33, 47, 21}};
}

ExerciseVerdict judge_exercise(const std::string& source, const std::vector<SizeRun>& runs,
                               const std::vector<BlankTrial>& trials) {
  return Examiner(source, runs, trials).examine();
}

}  // namespace tessera::simt
