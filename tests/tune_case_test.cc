// Who runs and who wins when a case is tuned, with a runner that says what the test wants.
#include "bench/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

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
    case_ = placed(dense_case(Op::kN, Op::kN, 60, 50, 40, DType::kF32), Space::kHost, 0);
    for (const std::string& id : every_kernel(Space::kHost, DType::kF32)) said_[id] = {};
    said_[kBlocked].seconds = 0.5e-3;
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
    const TuneResult result = tune_case(case_, cache_.find(key_, tune_shape(case_)), options_, run);
    cache_.put(key_, result.shape, result.contest());
    return result;
  }
  std::vector<std::string> sorted(std::size_t contest) const {
    std::vector<std::string> ids = contests_.at(contest);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  std::string cached_winner() const { return cache_.find(key_, tune_shape(case_))->winner; }

  Case case_;
  std::map<std::string, Said> said_;
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
  options_.kernels = {"cpu.naive"};
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
  options_.kernels.clear();
  tune();
  ASSERT_EQ(contests_.size(), 1U);
  EXPECT_EQ(sorted(0), (std::vector<std::string>{kBlocked, kNaive}));
  tune();
  EXPECT_TRUE(contests_.empty());
  options_.fresh = true;
  tune();
  ASSERT_EQ(contests_.size(), 1U);
  EXPECT_EQ(contests_[0].size(), said_.size());
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
  EXPECT_EQ(contests_.size(), 1U);
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

TEST_F(TuneCase, KernelsThatCannotTakeItAreNotRunAndNamed) {
  said_["cpu.blocked.f64"] = {};
  options_.kernels = {"cpu.naive.f64"};
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
  // Time for products of the fast one, not of the slow one (predicted: a nanosecond a step).
  case_ = placed(dense_case(Op::kN, Op::kN, 1000, 1000, 1000, DType::kF32), Space::kHost, 0);
  options_.budget_s = 4;
  const TuneResult some = tune();
  ASSERT_EQ(contests_.size(), 1U);
  EXPECT_EQ(some.best, kBlocked);
  ASSERT_EQ(some.not_reached.size(), 1U);
  EXPECT_EQ(some.not_reached[0].id, kNaive);
  EXPECT_LE(seconds_.back(), options_.seconds);
  // What is known then needs no time.
  options_.kernels = {"cpu.blocked"};
  options_.budget_s = 0;
  EXPECT_EQ(tune().best, kBlocked);
  EXPECT_TRUE(contests_.empty());
}

TEST_F(TuneCase, WhatTheRunnerForgetsHasFailed) {
  const TuneRunner silent = [](const Case&, const std::vector<std::string>&, double) {
    return std::vector<Row>();
  };
  const TuneResult result = tune_case(case_, nullptr, options_, silent);
  EXPECT_EQ(result.best, "");
  EXPECT_EQ(result.kernels.size(), said_.size());
}

}  // namespace
}  // namespace tessera::bench
