// Who runs and who wins when a case is tuned, with a runner that says what the test wants.
#include "bench/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "bench/contest.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

constexpr const char* kNaive = "cpu.naive.f32";
constexpr const char* kBlocked = "cpu.blocked.f32";
const double kNan = std::numeric_limits<double>::quiet_NaN();

struct Said {
  Disposition disposition = Disposition::kPassed;
  double seconds = 1e-3;
};

class TuneCase : public testing::Test {
 protected:
  TuneCase() {
    // "auto" takes the blocked kernel for columns of A that no L2 holds, whatever the machine.
    case_ = placed(dense_case(Op::kT, Op::kN, 20000, 20001, 50, DType::kF32), Space::kHost, 0);
    for (const std::string& id : every_kernel(Space::kHost, DType::kF32)) said_[id] = {};
    said_[kBlocked].seconds = 0.5e-3;
    options_.budget_s = 3600;
    options_.now_s = [this] { return now_s_; };
    options_.date = "2026-01-02T03:04:05Z";
  }

  TuneResult tune() {
    contests_.clear();
    const TuneRunner run = [this](const Case& c, const std::vector<std::string>& kernels,
                                  double seconds) {
      contests_.push_back(kernels);
      seconds_.push_back(seconds);
      now_s_ += contest_s_;
      std::vector<Row> rows;
      for (const std::string& id : kernels) {
        Row row;
        row.what = c;
        row.requested = row.kernel = id;
        row.disposition = said_.at(id).disposition;
        if (row.disposition != Disposition::kPassed) row.detail = "said so";
        row.seconds.assign(5, said_.at(id).seconds);
        rows.push_back(row);
      }
      return rows;
    };
    const TuneResult result =
        tune_case(case_, field(), cache_.find(key_, tune_shape(case_)), options_, run);
    cache_.put(key_, result.shape, result.contest());
    return result;
  }
  TuneField field() const {
    return invented_.candidates.empty() ? tune_field(case_, requests_) : invented_;
  }
  std::vector<std::string> sorted(std::size_t contest) const {
    std::vector<std::string> ids = contests_.at(contest);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// All that ran, in however many contests.
  std::set<std::string> timed() const {
    std::set<std::string> ids;
    for (const auto& contest : contests_) ids.insert(contest.begin(), contest.end());
    return ids;
  }
  std::set<std::string> every() const {
    std::set<std::string> ids;
    for (const auto& [id, said] : said_) ids.insert(id);
    return ids;
  }
  std::string cached_winner() const { return cache_.find(key_, tune_shape(case_))->winner; }

  Case case_;
  std::map<std::string, Said> said_;
  std::vector<std::string> requests_;
  TuneField invented_;  // instead of the registry's
  TuneOptions options_;
  TuneCache cache_;
  DeviceKey key_{"here", "", "gcc", "abc", "normal", "warm"};
  double now_s_ = 0, contest_s_ = 0.1;
  std::vector<std::vector<std::string>> contests_;
  std::vector<double> seconds_;
};

TEST_F(TuneCase, TheFastestWins) {
  const TuneResult result = tune();
  EXPECT_EQ(result.best, kBlocked);
  EXPECT_EQ(result.winner, kBlocked);
  EXPECT_EQ(result.kernels.size(), said_.size());
  EXPECT_EQ(result.kernels.front().id, kBlocked);
  said_[kNaive].seconds = 1e-6;
  options_.fresh = true;
  EXPECT_EQ(tune().best, kNaive);
  EXPECT_EQ(cached_winner(), kNaive);
}

TEST_F(TuneCase, I7_OnlyNewOnesRunBesideTheBestKnown) {
  requests_ = {"cpu.naive"};
  const TuneResult first = tune();
  // For comparison, what "auto" takes.
  EXPECT_EQ(first.best, kNaive);
  EXPECT_EQ(first.automatic, kBlocked);
  EXPECT_FALSE(first.find(kBlocked)->requested);
  EXPECT_EQ(cached_winner(), kBlocked) << "the cache remembers the best of all";
  EXPECT_TRUE(tune().kernels.size() == 2 && contests_.empty()) << "nothing is new";

  // As if one were added: all but one are known.
  cache_ = {};
  TunedShape known;
  for (const auto& [id, said] : said_) {
    if (id != kNaive) known.kernels[id] = {Disposition::kPassed, said.seconds, 0, options_.date};
  }
  known.winner = kBlocked;
  cache_.put(key_, tune_shape(case_), known);
  requests_.clear();
  tune();
  ASSERT_EQ(contests_.size(), 1U);
  EXPECT_EQ(sorted(0), (std::vector<std::string>{kBlocked, kNaive}));
  tune();
  EXPECT_TRUE(contests_.empty());
  options_.fresh = true;
  tune();
  EXPECT_EQ(timed(), every());
}

TEST_F(TuneCase, I7_TheWinnerIsDecidedWithinOneRun) {
  tune();
  // The clock has halved: a new kernel that is slower than the best, but not than its old time.
  TunedShape known = *cache_.find(key_, tune_shape(case_));
  known.kernels.erase(kNaive);
  said_[kBlocked].seconds = 2e-3;
  said_[kNaive].seconds = 1e-3;
  cache_ = {};
  cache_.put(key_, tune_shape(case_), known);
  const TuneResult result = tune();
  EXPECT_EQ(result.best, kNaive);
  EXPECT_EQ(cached_winner(), kNaive);
  EXPECT_EQ(cache_.find(key_, tune_shape(case_))->kernels.at(kBlocked).median_s, 2e-3);
}

TEST_F(TuneCase, I6_WhatIsNotProvedNeverWins) {
  for (const Said& lie : {Said{Disposition::kIncorrect, 1e-9}, Said{Disposition::kFailed, 1e-9},
                          Said{Disposition::kImplausible, 1e-9},
                          Said{Disposition::kNotSupported, 1e-9}, Said{Disposition::kPassed, 0},
                          Said{Disposition::kPassed, -1e-3}, Said{Disposition::kPassed, kNan},
                          Said{Disposition::kPassed, -std::numeric_limits<double>::infinity()}}) {
    cache_ = {};
    said_[kNaive] = lie;
    const TuneResult result = tune();
    EXPECT_EQ(result.best, kBlocked);
    EXPECT_EQ(cached_winner(), kBlocked);
    const TunedKernel* naive = result.find(kNaive);
    if (lie.disposition == Disposition::kNotSupported) {
      EXPECT_EQ(naive, nullptr);
      ASSERT_EQ(result.skipped.size(), 1U);
      EXPECT_EQ(result.skipped[0].reason, "said so");
    } else {
      ASSERT_NE(naive, nullptr);
      EXPECT_FALSE(naive->timing.passed());
    }
  }
  for (auto& [id, said] : said_) said = {Disposition::kIncorrect, 1e-9};
  cache_ = {};
  EXPECT_EQ(tune().best, "");
  EXPECT_TRUE(cache_.find(key_, tune_shape(case_))->by_merit().empty());
  // Nothing of it counts as timed.
  EXPECT_EQ(tune().kernels.size(), said_.size());
  EXPECT_EQ(timed(), every());
}

TEST_F(TuneCase, I6_ACachedBestThatFailsTakesTheCacheWithIt) {
  TunedShape known;
  for (const auto& [id, said] : said_) {
    if (id != kNaive) known.kernels[id] = {Disposition::kPassed, 1e-9, 0, options_.date};
  }
  known.winner = kBlocked;
  cache_.put(key_, tune_shape(case_), known);
  said_[kBlocked].disposition = Disposition::kIncorrect;
  const TuneResult result = tune();
  EXPECT_NE(result.best, kBlocked);
  for (const auto& [id, said] : said_) {
    const TunedKernel* kernel = result.find(id);
    ASSERT_NE(kernel, nullptr) << id;
    EXPECT_TRUE(kernel->measured_now) << id;
  }
}

TEST_F(TuneCase, OtherElementTypesTakeNoPart) {
  said_["cpu.blocked.f64"] = {};
  requests_ = {"cpu.naive.f64"};
  const TuneResult result = tune();
  EXPECT_TRUE(contests_.empty());
  EXPECT_EQ(result.best, "");
  EXPECT_EQ(result.automatic, kBlocked);
}

TEST_F(TuneCase, BudgetEndsAndNamesTheRest) {
  options_.budget_s = 0;
  const TuneResult none = tune();
  EXPECT_TRUE(contests_.empty());
  EXPECT_EQ(none.not_reached.size(), said_.size());
  EXPECT_FALSE(none.not_reached[0].reason.empty());
  // Time for products of the fast ones, not of the slow one (predicted: a nanosecond a step).
  case_ = placed(dense_case(Op::kN, Op::kN, 1000, 1000, 1000, DType::kF32), Space::kHost, 0);
  options_.budget_s = 4;
  const TuneResult some = tune();
  std::set<std::string> fast = every();
  fast.erase(kNaive);
  EXPECT_EQ(timed(), fast);
  EXPECT_EQ(some.best, kBlocked);
  ASSERT_EQ(some.not_reached.size(), 1U);
  EXPECT_EQ(some.not_reached[0].id, kNaive);
  EXPECT_LE(seconds_.back(), options_.seconds);
  // What is known then needs no time.
  requests_ = {"cpu.blocked"};
  options_.budget_s = 0;
  EXPECT_EQ(tune().best, kBlocked);
  EXPECT_TRUE(contests_.empty());
}

/// As many as a GPU has; the predictions are upside down.
class ManyKernels : public TuneCase {
 protected:
  static constexpr int kMany = 50;
  ManyKernels() {
    for (int i = 0; i < kMany; ++i) {
      const std::string id = "cpu.made.f32.x" + std::to_string(i);
      invented_.candidates.push_back({id, 1e-3 * (i + 1), true, ""});
      said_[id].seconds = 1e-3 * (2 * kMany - i);
    }
    invented_.automatic = invented_.candidates[0].id;
    options_.budget_s = 1e3;
  }
  std::string id(int i) const { return invented_.candidates[static_cast<std::size_t>(i)].id; }
};

TEST_F(ManyKernels, EachContestHasTheBestOfThoseBefore) {
  const TuneResult result = tune();
  EXPECT_EQ(result.best, id(kMany - 1));
  EXPECT_EQ(cached_winner(), id(kMany - 1));
  ASSERT_GE(contests_.size(), 3U);
  std::map<std::string, int> runs;
  std::string before;
  for (const std::vector<std::string>& contest : contests_) {
    EXPECT_TRUE(before.empty() ||
                std::find(contest.begin(), contest.end(), before) != contest.end());
    EXPECT_LE(contest.size(), 20U);
    for (const std::string& kernel : contest) {
      ++runs[kernel];
      if (before.empty() || said_.at(kernel).seconds < said_.at(before).seconds) before = kernel;
    }
  }
  EXPECT_EQ(runs.size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(runs[id(kMany - 1)], 1);
  tune();
  EXPECT_TRUE(contests_.empty());
}

TEST_F(ManyKernels, BudgetEndsBetweenContestsPredictedBestFirst) {
  contest_s_ = 4;
  options_.budget_s = 5;
  const TuneResult some = tune();
  ASSERT_EQ(contests_.size(), 1U) << "the first showed what one costs";
  EXPECT_EQ(contests_[0], (std::vector<std::string>{id(0), id(1), id(2), id(3)}));
  EXPECT_EQ(some.best, id(3));
  EXPECT_EQ(some.not_reached.size(), static_cast<std::size_t>(kMany - 4));
  // Another day goes on from there.
  contest_s_ = 0.1;
  options_.budget_s = 1e3;
  EXPECT_EQ(tune().best, id(kMany - 1));
  for (const std::vector<std::string>& contest : contests_) {
    EXPECT_EQ(std::count(contest.begin(), contest.end(), id(1)), 0) << "it has a time";
  }
}

TEST_F(ManyKernels, WrongOnesEverywhereLeaveTheFastestRightOne) {
  for (int i = 0; i < kMany; ++i) {
    if (i % 5 != 2) said_[id(i)] = {Disposition::kIncorrect, 1e-9};
  }
  EXPECT_EQ(tune().best, id(47));
  EXPECT_EQ(cached_winner(), id(47));
}

TEST_F(ManyKernels, RefusedOnesAreNamedWithTheRule) {
  invented_.candidates[7].refusal = "n must be a multiple of 4";
  invented_.candidates[8].refusal = "of another family";
  invented_.candidates[8].requested = false;
  const TuneResult result = tune();
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped[0].id, id(7));
  EXPECT_EQ(result.skipped[0].reason, "n must be a multiple of 4");
  for (const std::vector<std::string>& contest : contests_) {
    EXPECT_EQ(std::count(contest.begin(), contest.end(), id(7)), 0);
    EXPECT_EQ(std::count(contest.begin(), contest.end(), id(8)), 0);
  }
}

TEST_F(TuneCase, WhatTheRunnerForgetsHasFailed) {
  const TuneRunner silent = [](const Case&, const std::vector<std::string>&, double) {
    return std::vector<Row>();
  };
  const TuneResult result = tune_case(case_, field(), nullptr, options_, silent);
  EXPECT_EQ(result.best, "");
  EXPECT_EQ(result.kernels.size(), said_.size());
}

}  // namespace
}  // namespace tessera::bench
