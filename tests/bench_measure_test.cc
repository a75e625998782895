// The timed loop, with contenders that are wrong, throw, drift or are too fast.
#include "bench/measure.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "bench/roofline.h"

namespace tessera::bench {
namespace {

struct Fake {
  bool right_before = true, right_after = true, throws = false;
  std::vector<double> one_s = {1e-3};  ///< of one product, sample after sample, then again
  int granule = 1;
};

struct Log {
  std::vector<std::string> calls;
};

Timed timed(const Fake& fake, const std::shared_ptr<Log>& log = std::make_shared<Log>(),
            const std::string& name = "") {
  const auto sample = std::make_shared<std::size_t>(0);
  Timed t;
  t.granule = fake.granule;
  t.run = [=] {
    if (fake.throws) throw std::runtime_error("launch failed");
  };
  t.time_s = [=](int products) {
    log->calls.push_back(name + "time");
    return fake.one_s[(*sample)++ % fake.one_s.size()] * products;
  };
  t.poison = [=] { log->calls.push_back(name + "poison"); };
  t.check_one = [=]() -> Check { return {fake.right_before ? "" : "row 0 is wrong", 0.25}; };
  t.check_all = [=]() -> Check {
    log->calls.push_back(name + "check");
    return {fake.right_after ? "" : "row 1 is wrong", 0.5};
  };
  return t;
}

std::vector<Row> measured(const std::vector<Timed>& contenders, double seconds) {
  std::vector<Row> rows(contenders.size());
  MeasureOptions options;
  options.seconds = seconds;
  measure(contenders, options, rows);
  return rows;
}

TEST(Measure, OnlyAProvedRunHasASpeed) {
  Fake wrong_before, wrong_after, throws;
  wrong_before.right_before = false;
  wrong_after.right_after = false;
  throws.throws = true;
  const auto rows =
      measured({timed({}), timed(wrong_before), timed(wrong_after), timed(throws)}, 0);
  EXPECT_EQ(rows[0].disposition, Disposition::kPassed);
  EXPECT_EQ(rows[0].seconds.size(), 5U);
  EXPECT_DOUBLE_EQ(rows[0].median_s(), 1e-3);
  EXPECT_EQ(rows[0].worst_ratio, 0.5);
  const Disposition expected[] = {Disposition::kPassed, Disposition::kIncorrect,
                                  Disposition::kIncorrect, Disposition::kFailed};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].disposition, expected[i]) << i;
    EXPECT_TRUE(rows[i].seconds.empty()) << i;
    EXPECT_NE(rows[i].detail, "") << i;
  }
}

TEST(Measure, TheLastSampleWritesToAPoisonedCThatIsThenJudged) {
  const auto log = std::make_shared<Log>();
  const auto rows = measured({timed({}, log)}, 0);
  ASSERT_GE(log->calls.size(), 3U);
  const std::vector<std::string> last(log->calls.end() - 3, log->calls.end());
  EXPECT_EQ(last, (std::vector<std::string>{"poison", "time", "check"}));
}

TEST(Measure, ContendersTakeTurns) {
  const auto log = std::make_shared<Log>();
  measured({timed({}, log, "a "), timed({}, log, "b ")}, 0);
  // After the warming turn: a b a b ...
  std::vector<std::string> times;
  for (const std::string& call : log->calls) {
    if (call.find("time") != std::string::npos) times.push_back(call);
  }
  int changes = 0;
  for (std::size_t i = 1; i < times.size(); ++i) changes += times[i] != times[i - 1];
  EXPECT_GE(changes, 9) << "five samples of each, interleaved";
}

TEST(Measure, StopsWhenTheMedianIsKnownAndGoesOnWhenItIsNot) {
  const auto steady = measured({timed({})}, 1);
  // A fifth of the time is always spent: of samples of 2 ms, a hundred.
  EXPECT_LT(steady[0].seconds.size(), 200U);
  EXPECT_TRUE(steady[0].remarks.empty());
  Fake noisy;
  noisy.one_s = {1e-3, 2e-3, 3e-3, 1e-3, 4e-3};
  const auto restless = measured({timed(noisy)}, 0.5);
  EXPECT_GT(restless[0].seconds.size(), 50U);
  Fake few = noisy;
  few.one_s = {1e-1, 2e-1, 4e-1};
  const auto unsure = measured({timed(few)}, 0.5);
  ASSERT_EQ(unsure[0].remarks.size(), 1U);
  EXPECT_NE(unsure[0].remarks[0].find("noisy"), std::string::npos);
}

TEST(Measure, OfAVerySlowProductThreeSamplesAreEnough) {
  Fake slow;
  slow.one_s = {2.0};
  EXPECT_EQ(measured({timed(slow)}, 0.5)[0].seconds.size(), 3U);
  Fake quick;
  quick.one_s = {0.2};
  EXPECT_GE(measured({timed(quick)}, 0.5)[0].seconds.size(), 5U);
}

TEST(Measure, AShortProductIsRepeatedInWholeGranules) {
  Fake fake;
  fake.one_s = {1e-5};
  fake.granule = 64;
  const auto rows = measured({timed(fake)}, 0);
  EXPECT_EQ(rows[0].products_per_sample % 64, 0);
  EXPECT_GE(rows[0].products_per_sample * 1e-5, 2e-3);
  EXPECT_DOUBLE_EQ(rows[0].median_s(), 1e-5);
}

TEST(Measure, SpreadOfSamples) {
  Row row;
  row.seconds = {5, 1, 2, 4, 3};
  EXPECT_EQ(row.median_s(), 3);
  EXPECT_EQ(row.min_s(), 1);
  EXPECT_EQ(row.max_s(), 5);
  EXPECT_DOUBLE_EQ(row.noise(), (4 - 2) / 2.0 / 3);
  row.seconds = {4, 1, 2, 3};
  EXPECT_EQ(row.median_s(), 2.5);
}

Row passed(double seconds) {
  Row row;
  row.what = dense_case(Op::kN, Op::kN, 1000, 1000, 1000, DType::kF32);
  row.disposition = Disposition::kPassed;
  row.seconds = {seconds};
  return row;
}

TEST(Roofline, FasterThanTheMultiplyAddsIsImplausible) {
  Roofs roofs;
  roofs.fma_gflops = 1000;  // 2e9 operations: 2 ms
  Row possible = passed(2.1e-3), impossible = passed(1e-3);
  judge(possible, roofs);
  judge(impossible, roofs);
  EXPECT_EQ(possible.disposition, Disposition::kPassed);
  EXPECT_EQ(impossible.disposition, Disposition::kImplausible);
  EXPECT_TRUE(impossible.seconds.empty());
  EXPECT_NE(impossible.detail.find("2000 GFLOP/s"), std::string::npos) << impossible.detail;
}

TEST(Roofline, TheSlowerOfArithmeticAndBytes) {
  Roofs roofs;
  roofs.fma_gflops = 1000;
  roofs.memory_gbps = 10;
  roofs.l2_gbps = 100;
  roofs.l2_bytes = 1e6;
  const Case cube = dense_case(Op::kN, Op::kN, 1000, 1000, 1000, DType::kF32);
  EXPECT_EQ(bound_of(cube, CacheState::kWarm, roofs).by, "compute");
  EXPECT_DOUBLE_EQ(bound_of(cube, CacheState::kWarm, roofs).seconds, 2e-3);
  const Case vector = dense_case(Op::kN, Op::kN, 1, 400, 400, DType::kF32);
  const double bytes = 4.0 * (400 + 160000 + 400);
  EXPECT_EQ(bound_of(vector, CacheState::kWarm, roofs).by, "l2");
  EXPECT_DOUBLE_EQ(bound_of(vector, CacheState::kWarm, roofs).seconds, bytes / 100e9);
  EXPECT_EQ(bound_of(vector, CacheState::kCold, roofs).by, "memory");
  EXPECT_DOUBLE_EQ(bound_of(vector, CacheState::kCold, roofs).seconds, bytes / 10e9);
}

}  // namespace
}  // namespace tessera::bench
