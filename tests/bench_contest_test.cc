// Real contests on the CPU: kernels against a peer of the test's own.
#include "bench/contest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/arena.h"
#include "bench/data.h"
#include "support/reference.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

/// A peer that computes straight from the definition, or cheats in one way.
class TestPeer final : public Peer {
 public:
  enum class Cheat { kNone, kWritesNothing, kChangesA, kForgetsBeta, kOnlyFirstSet };
  explicit TestPeer(Cheat cheat = Cheat::kNone) : cheat_(cheat) {
    info_.name = "test";
    info_.version = "1";
  }
  const PeerInfo& info() const override { return info_; }

  RunProduct prepare(const Case& c, int, void*) override {
    if (c.desc.dtype != DType::kF32) throw Error(ErrorCode::kUnsupported, "test: f32 only");
    return [this, c, first = std::make_shared<void*>(nullptr)](const Pointers& p) {
      if (*first == nullptr) *first = p.c;
      if (cheat_ == Cheat::kWritesNothing) return;
      if (cheat_ == Cheat::kOnlyFirstSet && p.c != *first) return;
      multiply(c, p);
      if (cheat_ == Cheat::kChangesA) const_cast<float*>(static_cast<const float*>(p.a))[0] += 1;
    };
  }

 private:
  static float at(const void* p, const OperandDesc& x, Op op, std::int64_t i, std::int64_t j) {
    if (op == Op::kT) std::swap(i, j);
    const std::int64_t offset = x.layout == Layout::kRowMajor ? i * x.ld + j : i + j * x.ld;
    return static_cast<const float*>(p)[offset];
  }

  void multiply(const Case& c, const Pointers& p) const {
    for (std::int64_t b = 0; b < c.desc.batch; ++b) {
      const auto* a = static_cast<const float*>(p.a) + b * c.desc.a.batch_stride;
      const auto* bb = static_cast<const float*>(p.b) + b * c.desc.b.batch_stride;
      auto* out = static_cast<float*>(p.c) + b * c.desc.c.batch_stride;
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          for (std::int64_t q = 0; q < c.k; ++q) {
            sum += static_cast<double>(at(a, c.desc.a, c.desc.op_a, i, q)) *
                   static_cast<double>(at(bb, c.desc.b, c.desc.op_b, q, j));
          }
          const OperandDesc& x = c.desc.c;
          float& to = out[x.layout == Layout::kRowMajor ? i * x.ld + j : i + j * x.ld];
          const bool reads = c.beta != 0 && cheat_ != Cheat::kForgetsBeta;
          to = static_cast<float>(c.alpha * sum + (reads ? c.beta * static_cast<double>(to) : 0));
        }
      }
    }
  }

  Cheat cheat_;
  PeerInfo info_;
};

Field field_with(TestPeer::Cheat cheat) {
  Field field;
  field.kernels = {"auto", "cpu.naive"};
  field.peers = {std::make_shared<TestPeer>(cheat)};
  field.settings.threads = 2;
  field.settings.cold_bytes = 1 << 20;
  field.timing.seconds = 0;
  field.timing.shortest_sample_s = 1e-6;
  return field;
}

std::vector<Row> run(const Case& c, CacheState cache,
                     TestPeer::Cheat cheat = TestPeer::Cheat::kNone) {
  return run_case(c, cache, field_with(cheat));
}

void expect_all_passed(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(row.disposition, Disposition::kPassed) << row.requested << ": " << row.detail;
    EXPECT_GT(row.median_s(), 0);
    EXPECT_GE(row.seconds.size(), 5U);
    EXPECT_GT(row.worst_ratio, 0) << "random normal data round";
    EXPECT_LE(row.worst_ratio, 1);
  }
}

TEST(Contest, EveryOpPairWarmAndCold) {
  for (const Op op_a : {Op::kN, Op::kT}) {
    for (const Op op_b : {Op::kN, Op::kT}) {
      const Case c = dense_case(op_a, op_b, 33, 17, 29, DType::kF32);
      expect_all_passed(run(c, CacheState::kWarm));
    }
  }
  const auto cold = run(dense_case(Op::kN, Op::kN, 66, 34, 58, DType::kF32), CacheState::kCold);
  expect_all_passed(cold);
  EXPECT_GT(cold[0].sets, 1);
  EXPECT_EQ(cold[0].products_per_sample % cold[0].sets, 0);
}

TEST(Contest, LayoutsPaddingBatchesAndScalars) {
  Case c = dense_case(Op::kN, Op::kT, 20, 12, 18, DType::kF32);
  c.desc.a.ld = 21;
  c.desc.b = {12, 18, 13, Layout::kColMajor, 300, 256};
  c.desc.c = {20, 12, 25, Layout::kColMajor, 400, 256};
  c.desc.a.batch_stride = 500;
  c.desc.batch = 3;
  c.alpha = -0.5;
  c.beta = 2;
  expect_all_passed(run(c, CacheState::kWarm));
  expect_all_passed(run(c, CacheState::kCold));
}

TEST(Contest, CheatsHaveNoSpeed) {
  using Cheat = TestPeer::Cheat;
  Case c = dense_case(Op::kN, Op::kN, 19, 23, 17, DType::kF32);
  c.beta = 0;
  for (const Cheat cheat : {Cheat::kWritesNothing, Cheat::kChangesA}) {
    const auto rows = run(c, CacheState::kWarm, cheat);
    EXPECT_EQ(rows.back().disposition, Disposition::kIncorrect) << static_cast<int>(cheat);
    EXPECT_TRUE(rows.back().seconds.empty());
  }
  const auto once = run(c, CacheState::kCold, Cheat::kOnlyFirstSet);
  EXPECT_EQ(once.back().disposition, Disposition::kIncorrect) << "the other sets were not written";
  c.beta = 1;
  const auto reading = run(c, CacheState::kCold, Cheat::kOnlyFirstSet);
  EXPECT_EQ(reading.back().disposition, Disposition::kIncorrect) << "the same where C is read";
  EXPECT_EQ(reading.front().disposition, Disposition::kPassed) << reading.front().detail;
  const auto rows = run(c, CacheState::kWarm, Cheat::kForgetsBeta);
  EXPECT_EQ(rows.back().disposition, Disposition::kIncorrect);
  EXPECT_EQ(rows.front().disposition, Disposition::kPassed) << rows.front().detail;
}

TEST(Contest, NoColdProductTakesTheSetOfTheOneBeforeIt) {
  Settings settings;
  settings.cold_bytes = 1 << 16;
  const auto arena =
      host_arena(dense_case(Op::kN, Op::kN, 32, 32, 32, DType::kF32), CacheState::kCold, settings);
  ASSERT_GT(arena->sets(), 2);
  std::vector<const void*> taken;
  const Timed timed = arena->timed([&](const Pointers& p) { taken.push_back(p.a); });
  for (int sample = 0; sample < 3; ++sample) {
    const std::size_t first = taken.size();
    timed.time_s(2 * timed.granule);
    // The first of all may be one that only wakes threads.
    ASSERT_GE(taken.size() - first, 2 * static_cast<std::size_t>(timed.granule));
    for (std::size_t i = first + 1; i < taken.size(); ++i) EXPECT_NE(taken[i], taken[i - 1]) << i;
  }
}

TEST(Contest, WhatCannotTakeTheCaseSaysWhyAndTheRestRuns) {
  Field field = field_with(TestPeer::Cheat::kNone);
  field.kernels = {"cpu.naive.f32", "auto"};
  const auto rows =
      run_case(dense_case(Op::kN, Op::kN, 5, 6, 7, DType::kF64), CacheState::kWarm, field);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].disposition, Disposition::kNotSupported);
  EXPECT_NE(rows[0].detail.find("f64"), std::string::npos) << rows[0].detail;
  EXPECT_EQ(rows[1].disposition, Disposition::kPassed);
  EXPECT_EQ(rows[2].disposition, Disposition::kNotSupported);
  Case negative = dense_case(Op::kN, Op::kN, 5, 6, 7, DType::kF32);
  negative.desc.batch = 2;
  negative.desc.a.batch_stride = -35;
  EXPECT_THROW(run_case(negative, CacheState::kWarm, field), Error);
}

TEST(Data, TheSameForAnyNumberOfThreadsAndAsDescribed) {
  constexpr std::int64_t kCount = 200'001;
  std::vector<float> one(kCount), four(kCount), other(kCount);
  fill(DataKind::kNormal, DType::kF32, one.data(), kCount, 7, 1);
  fill(DataKind::kNormal, DType::kF32, four.data(), kCount, 7, 4);
  fill(DataKind::kNormal, DType::kF32, other.data(), kCount, 8, 4);
  EXPECT_EQ(one, four);
  EXPECT_NE(one, other);
  double sum = 0, squares = 0;
  for (const float x : one) {
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  std::vector<double> integers(kCount);
  fill(DataKind::kIntegers, DType::kF64, integers.data(), kCount, 7, 2);
  EXPECT_EQ(std::set<double>(integers.begin(), integers.end()).size(), 9U);
  fill(DataKind::kZeros, DType::kF32, one.data(), kCount, 7, 2);
  EXPECT_EQ(one, std::vector<float>(kCount, 0));
}

TEST(Operands, SetsHoldWhatIsWantedWithinTheirNumberAndMemory) {
  const SetBytes bytes{1024, 1024, 2048};
  EXPECT_EQ(sets_to_hold(bytes, 3 << 20, 4096, std::int64_t{1} << 40), 768);
  EXPECT_EQ(sets_to_hold(bytes, (3 << 20) + 1, 4096, std::int64_t{1} << 40), 769);
  EXPECT_EQ(sets_to_hold(bytes, 3 << 20, 4096, 1 << 20), 256);
  EXPECT_EQ(sets_to_hold(bytes, 100, 4096, 1 << 20), 1);
  EXPECT_EQ(sets_to_hold(bytes, std::int64_t{1} << 40, 4096, std::int64_t{1} << 50), 4096);
  EXPECT_EQ(sets_to_hold(bytes, 3 << 20, 4096, 1), 1) << "one there always is";
}

}  // namespace
}  // namespace tessera::bench
