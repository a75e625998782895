// Panel sizes: the budget is kept, the traffic formula counts what a walk loads, refusals are
// exact.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "panel/panel_job.h"
#include "panel/plan_panels.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

PanelRequest request(std::int64_t m, std::int64_t n, std::int64_t k) {
  PanelRequest r;
  r.m = m;
  r.n = n;
  r.k = k;
  r.hold_a = r.hold_b = r.hold_c = true;
  r.load_a_bytes = r.load_b_bytes = r.store_c_bytes = 4;
  r.repeat_c_bytes = 1;
  return r;
}

const std::vector<PanelRequest>& requests() {
  static const std::vector<PanelRequest> all = [] {
    std::vector<PanelRequest> out;
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                          {64, 64, 64},
                                                                          {65, 63, 1000},
                                                                          {1, 5000, 7000},
                                                                          {5000, 1, 7000},
                                                                          {5427, 217, 2170},
                                                                          {10007, 4099, 3},
                                                                          {4096, 4096, 4096},
                                                                          {200000, 100, 100000}}) {
      for (const bool two : {false, true}) {
        PanelRequest r = request(m, n, k);
        r.double_buffered = two;
        r.trans_a = two;
        out.push_back(r);
      }
    }
    return out;
  }();
  return all;
}

TEST(PlanPanels, KeepsTheBudgetAndTheStep) {
  for (PanelRequest r : requests()) {
    for (const std::int64_t budget : {1 << 18, 1 << 20, 1 << 23, 1 << 27}) {
      r.budget_bytes = budget;
      const PanelPlan plan = plan_panels(r);
      const PanelShape& s = plan.shape;
      EXPECT_LE(plan.buffer_bytes, budget);
      EXPECT_EQ(plan.buffer_bytes, bytes_held(r, s));
      for (const auto& [size, dim] : {std::pair(s.m, r.m), {s.n, r.n}, {s.k, r.k}}) {
        EXPECT_GE(size, 1);
        EXPECT_LE(size, dim);
        EXPECT_TRUE(size == dim || size % kPanelStep == 0) << size << " of " << dim;
      }
    }
  }
}

TEST(PlanPanels, TakesTheWholeProductWhenItFits) {
  for (PanelRequest r : requests()) {
    const PanelShape whole{r.m, r.n, r.k, true};
    r.budget_bytes = bytes_held(r, whole);
    const PanelPlan plan = plan_panels(r);
    EXPECT_EQ(plan.shape.m, r.m);
    EXPECT_EQ(plan.shape.n, r.n);
    EXPECT_EQ(plan.shape.k, r.k);
  }
}

TEST(PlanPanels, RefusesBelowTheSmallestAndNamesIt) {
  for (PanelRequest r : requests()) {
    const std::int64_t smallest = bytes_held(r, smallest_shape(r));
    r.budget_bytes = smallest;
    EXPECT_EQ(plan_panels(r).buffer_bytes, smallest);
    r.budget_bytes = smallest - 1;
    try {
      plan_panels(r);
      FAIL() << "a budget of " << r.budget_bytes << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
      const std::string text = error.what();
      EXPECT_NE(text.find(std::to_string(smallest - 1)), std::string::npos) << text;
      EXPECT_NE(text.find(std::to_string(smallest)), std::string::npos) << text;
    }
  }
}

TEST(PlanPanels, BuffersCountEveryPanelHeld) {
  PanelRequest r = request(1000, 500, 300);
  r.double_buffered = true;
  const auto bytes = [](std::int64_t rows, std::int64_t cols) {
    return buffer_bytes(rows, cols, 4);
  };
  // A in 4 panels and B in 2: two of each, and one tile.
  EXPECT_EQ(bytes_held(r, {256, 256, 300, true}),
            2 * bytes(256, 300) + 2 * bytes(300, 256) + bytes(256, 256));
  // B in one panel: one buffer.
  EXPECT_EQ(bytes_held(r, {256, 500, 300, true}),
            2 * bytes(256, 300) + bytes(300, 500) + bytes(256, 500));
  r.double_buffered = false;
  EXPECT_EQ(bytes_held(r, {256, 256, 300, true}),
            bytes(256, 300) + bytes(300, 256) + bytes(256, 256));
  r.hold_b = r.hold_c = false;
  EXPECT_EQ(bytes_held(r, {256, 256, 300, true}), bytes(256, 300));
  // Rows start at multiples of 16 bytes, but a narrow matrix is not blown up.
  EXPECT_EQ(padded_ld(5, 4), 8);
  EXPECT_EQ(padded_ld(5, 8), 6);
  EXPECT_EQ(padded_ld(1, 4), 1);
  EXPECT_EQ(padded_ld(0, 4), 1);
  // What no address space holds saturates instead of wrapping.
  EXPECT_EQ(buffer_bytes(INT64_MAX / 4, 8, 8), INT64_MAX);
  EXPECT_EQ(buffer_bytes(INT64_MAX, 1, 4), INT64_MAX);
}

/// Elements of A and B that a walk with one buffer each loads.
std::pair<double, double> counted_loads(const PanelRequest& r, const PanelShape& shape) {
  PanelJob job;
  job.m = r.m;
  job.n = r.n;
  job.k = r.k;
  Block a, b;
  double loads_a = 0, loads_b = 0;
  for_each_step(job, shape, [&](const PanelStep& step) {
    if (const Block next = a_block(job, step); !(next == a)) {
      a = next;
      loads_a += static_cast<double>(a.rows) * static_cast<double>(a.cols);
    }
    if (const Block next = b_block(job, step); !(next == b)) {
      b = next;
      loads_b += static_cast<double>(b.rows) * static_cast<double>(b.cols);
    }
  });
  return {loads_a, loads_b};
}

TEST(PlanPanels, PrefersToKeepKWhole) {
  // A tall product: a deep panel costs no more loads than a shallow one.
  PanelRequest r = request(20000, 256, 512);
  r.budget_bytes = 8 << 20;
  EXPECT_EQ(plan_panels(r).shape.k, r.k);
}

TEST(PlanPanels, LoadsBothOnceWhenTheSmallerFits) {
  for (const bool a_larger : {true, false}) {
    PanelRequest r = a_larger ? request(50000, 3000, 512) : request(3000, 50000, 512);
    r.hold_c = false;
    r.budget_bytes = 8 << 20;
    r.repeat_c_bytes = 8;
    const auto [loads_a, loads_b] = counted_loads(r, plan_panels(r).shape);
    EXPECT_EQ(loads_a, static_cast<double>(r.m * r.k));
    EXPECT_EQ(loads_b, static_cast<double>(r.n * r.k));
  }
}

TEST(PlanPanels, NeitherOrderNorSplittingKWouldMoveLess) {
  PanelRequest r = request(50000, 9000, 512);
  r.hold_c = false;
  r.budget_bytes = 8 << 20;
  r.repeat_c_bytes = 8;
  const double best = plan_panels(r).traffic_bytes;
  for (const PanelShape& shape : {PanelShape{3008, 896, 512, true},
                                  {1024, 3000, 512, false},
                                  {50000, 9000, 64, true},
                                  {2048, 2048, 512, true},
                                  {4096, 4096, 256, true}}) {
    if (bytes_held(r, shape) <= r.budget_bytes) {
      EXPECT_LE(best, traffic_bytes(r, shape));
    }
  }
}

TEST(PlanPanels, BoundsTheWorkOfOneProduct) {
  PanelRequest r = request(8192, 8192, 8192);
  r.hold_a = r.hold_b = r.hold_c = false;
  r.whole_k = true;
  r.max_multiply_adds = 12.5e9;
  const PanelShape s = plan_panels(r).shape;
  EXPECT_EQ(s.k, r.k);
  EXPECT_LE(static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k), 12.5e9);
  EXPECT_GE(std::min(s.m, s.n), 4 * kPanelStep);
  // Where even the smallest tile is too much, it is taken.
  r.k = 1LL << 40;
  EXPECT_EQ(plan_panels(r).shape.m, kPanelStep);
}

TEST(Traffic, FormulaIsWhatAWalkLoads) {
  PanelRequest r = request(70, 50, 30);
  r.store_c_bytes = r.repeat_c_bytes = 0;
  for (const std::int64_t m : {70, 40, 7}) {
    for (const std::int64_t n : {50, 20, 9}) {
      for (const std::int64_t k : {30, 29, 4}) {
        for (const bool a_outer : {true, false}) {
          const PanelShape shape{m, n, k, a_outer};
          const auto [loads_a, loads_b] = counted_loads(r, shape);
          const auto traffic = [&](double a, double b) {
            PanelRequest weighted = r;
            weighted.load_a_bytes = a;
            weighted.load_b_bytes = b;
            return traffic_bytes(weighted, shape) - [&] {
              weighted.load_a_bytes = weighted.load_b_bytes = 0;
              return traffic_bytes(weighted, shape);
            }();
          };
          EXPECT_EQ(traffic(1, 0), loads_a) << m << " " << n << " " << k << " " << a_outer;
          EXPECT_EQ(traffic(0, 1), loads_b) << m << " " << n << " " << k << " " << a_outer;
        }
      }
    }
  }
}

TEST(Steps, CoverEveryMultiplyAddOnce) {
  PanelJob job;
  job.m = 5;
  job.n = 7;
  job.k = 3;
  for (const PanelShape& shape : {PanelShape{2, 3, 2, true}, {4, 8, 1, false}, {5, 6, 4, true}}) {
    std::vector<int> seen(5 * 7 * 3);
    std::int64_t firsts = 0, lasts = 0;
    for_each_step(job, shape, [&](const PanelStep& s) {
      firsts += s.first_k;
      lasts += s.last_k;
      for (auto i = s.i; i < s.i + s.m; ++i) {
        for (auto j = s.j; j < s.j + s.n; ++j) {
          for (auto p = s.p; p < s.p + s.k; ++p) {
            ++seen[static_cast<std::size_t>((i * 7 + j) * 3 + p)];
          }
        }
      }
    });
    EXPECT_EQ(seen, std::vector<int>(5 * 7 * 3, 1));
    EXPECT_EQ(firsts, lasts);
  }
}

}  // namespace
}  // namespace tessera::panel
