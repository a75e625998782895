#include "simt/exercise/trial.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "simt/exercise/answer.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

using Runs = std::vector<SizeRun>;

bool is_clean(const Runs& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const SizeRun& r) {
    return r.run.findings.empty() && r.run.exit_code == 0;
  });
}

class Trials {
 public:
  explicit Trials(const CheckedProgram& program)
      : program_(program), answer_(read_answer(program.source())) {}

  std::vector<BlankTrial> run(const Runs& whole) {
    if (is_clean(whole)) return {};
    try_work(whole);
    for (const int i : {kFirstBarrier, kSecondBarrier}) {
      if (blank(i).is_filled() && !blank(i).plain_barrier) add(i, alone(i));
    }
    return std::move(out_);
  }

 private:
  const Answer::Blank& blank(int i) const { return answer_.blanks[static_cast<std::size_t>(i)]; }

  /// Load and accumulation may share a layout of their own, so they are tried together first.
  void try_work(const Runs& whole) {
    const bool loads = blank(kLoad).is_filled(), adds = blank(kAccumulate).is_filled();
    if (loads && adds) {
      const bool barriers_are_plain =
          blank(kFirstBarrier).plain_barrier && blank(kSecondBarrier).plain_barrier;
      const std::optional<Runs> both =
          barriers_are_plain ? whole : runs_of({true, false, true, false});
      if (both && is_clean(*both)) {
        add(kLoad, both);
        add(kAccumulate, both);
        return;
      }
    }
    if (loads) add(kLoad, alone(kLoad));
    if (adds) add(kAccumulate, alone(kAccumulate));
  }

  std::optional<Runs> alone(int i) {
    std::array<bool, 4> own{};
    own[static_cast<std::size_t>(i)] = true;
    return runs_of(own);
  }

  std::optional<Runs> runs_of(const std::array<bool, 4>& own) {
    const CheckOptions& given = program_.options();
    CheckOptions options = given;
    options.path = program_.folder() + "/trial.cu";
    options.count = false;
    options.keep_products = false;
    options.output = RunOptions::Output::kNowhere;
    const std::string parent = std::filesystem::path(given.path).parent_path().string();
    options.flags.insert(options.flags.end(), {"-I", parent.empty() ? "." : parent});
    std::ofstream(options.path) << completed(program_.source(), own, given.path);
    try {
      CheckedProgram trial(options);
      Runs runs;
      for (const Sizes& s : exercise_sizes()) {
        runs.push_back({s[0], s[1], s[2], trial.run(s, false).check});
      }
      return runs;
    } catch (const Error&) {
      return {};
    }
  }

  void add(int i, const std::optional<Runs>& runs) {
    if (runs) out_.push_back({i + 1, *runs});
  }

  const CheckedProgram& program_;
  Answer answer_;
  std::vector<BlankTrial> out_;
};

}  // namespace

std::vector<BlankTrial> try_blanks(const CheckedProgram& program,
                                   const std::vector<SizeRun>& runs) {
  return Trials(program).run(runs);
}

}  // namespace tessera::simt
