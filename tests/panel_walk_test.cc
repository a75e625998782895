// The GPU walk of panels on a simulated device: right under every schedule that streams and events
// allow, and wrong when a wait is missing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "panel_fake_device.h"
#include "panel_support.h"
#include "support/errors.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

struct Setting {
  Schedule schedule;
  unsigned seed;
};
const std::vector<Setting> kSettings = {{Schedule::kLazy, 0},         {Schedule::kCopyFirst, 0},
                                        {Schedule::kComputeFirst, 0}, {Schedule::kRandom, 1},
                                        {Schedule::kRandom, 2},       {Schedule::kRandom, 3}};

std::string fault_on(Inputs& inputs, const Case& c, const Setting& setting, Forget forget = {}) {
  FakeDevice device(setting.schedule, setting.seed, forget);
  const std::string text =
      fault(inputs, c, [&](const PanelJob& job) { return walk_device(job, device); });
  EXPECT_EQ(device.live_objects, 0) << c.text();
  return text;
}

TEST(PanelWalk, LastShortTileWithTwoStreams) {
  Inputs inputs;
  for (const double beta : {0.0, 1.0}) {
    for (const Setting& setting : kSettings) {
      Case small{
          5, 2, 1, Op::kN, Op::kN, 1, beta, {}, {}, {}, DType::kF32, PanelShape{4, 2, 1, true}, {}};
      EXPECT_EQ(fault_on(inputs, small, setting), "");
      Case large{327,  17, 70, Op::kN, Op::kN,      1,
                 beta, {}, {}, {},     DType::kF32, PanelShape{326, 326, 326, true},
                 {}};
      EXPECT_EQ(fault_on(inputs, large, setting), "");
    }
  }
}

TEST(PanelWalk, RightUnderEverySchedule) {
  Inputs inputs;
  const std::vector<std::array<std::int64_t, 3>> dims = {{1, 1, 1}, {13, 11, 17}, {20, 3, 9}};
  for (const auto& [m, n, k] : dims) {
    const auto less = [](std::int64_t d) { return std::max<std::int64_t>(1, d - 1); };
    for (const PanelShape& shape : {PanelShape{m, n, k, true},
                                    {less(m), n, k, true},
                                    {m, less(n), k, false},
                                    {m, n, less(k), true},
                                    {(m + 2) / 3, (n + 2) / 3, (k + 2) / 3, true},
                                    {(m + 4) / 5, (n + 1) / 2, k, false},
                                    {(m + 1) / 2, (n + 4) / 5, k, true}}) {
      for (const auto& [op_a, op_b] :
           {std::pair(Op::kN, Op::kN), {Op::kT, Op::kN}, {Op::kN, Op::kT}, {Op::kT, Op::kT}}) {
        for (const bool fortran : {false, true}) {
          for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {0.5, 3.0}}) {
            for (const DType compute : {DType::kF32, DType::kF64}) {
              Case c{m,
                     n,
                     k,
                     op_a,
                     op_b,
                     alpha,
                     beta,
                     {DType::kF16, fortran},
                     {DType::kF32},
                     {DType::kF64, fortran},
                     DType::kF32,
                     shape,
                     {}};
              c.options.compute = compute;
              c.options.gemm.threads = 1;
              for (const Setting& setting : kSettings) ASSERT_EQ(fault_on(inputs, c, setting), "");
            }
          }
        }
      }
    }
  }
}

/// A walk with many panels along every dimension.
Case many_panels() {
  return {40, 30, 50, Op::kN, Op::kT, 0.5, 2, {}, {}, {}, DType::kF32, PanelShape{9, 8, 7, true},
          {}};
}

TEST(PanelWalk, AMissingStreamWaitShows) {
  Inputs inputs;
  const Forget forget{true, false};
  // Products overtake the copies of their panels; copies overtake the products that read a slot.
  EXPECT_NE(fault_on(inputs, many_panels(), {Schedule::kComputeFirst, 0}, forget), "");
  EXPECT_NE(fault_on(inputs, many_panels(), {Schedule::kCopyFirst, 0}, forget), "");
}

TEST(PanelWalk, AMissingHostWaitShows) {
  Inputs inputs;
  EXPECT_NE(fault_on(inputs, many_panels(), {Schedule::kLazy, 0}, {false, true}), "");
}

TEST(PanelWalk, StagesBlocksLargerThanTheStagingBuffers) {
  Inputs inputs;
  // 36 MB of A in three parts; rows of B that are split.
  Case c{3, 2, 3000000, Op::kN, Op::kT, 1, 0, {}, {}, {}, DType::kF64, std::nullopt, {}};
  c.options.compute = DType::kF64;
  for (const Schedule schedule : {Schedule::kLazy, Schedule::kCopyFirst}) {
    EXPECT_EQ(fault_on(inputs, c, {schedule, 0}), "");
  }
}

TEST(PanelWalk, KeepsTheDeviceBudget) {
  Inputs inputs;
  struct Try {
    std::string kernel;
    std::int64_t budget;
    bool one_panel;
  };
  // cpu.blocked needs workspace, which counts.
  for (const auto& [kernel, budget, one_panel] : {Try{"cpu.naive", 128 << 10, false},
                                                  {"cpu.naive", 200 << 10, false},
                                                  {"cpu.blocked", 350 << 10, false},
                                                  {"cpu.blocked", 8 << 20, true}}) {
    for (const bool asked : {true, false}) {
      Case c{150, 130, 170, Op::kT, Op::kN, 1, 1, {}, {}, {}, DType::kF32, std::nullopt, {}};
      c.options.gemm.kernel = kernel;
      FakeDevice device(Schedule::kRandom, 5);
      if (asked) {
        c.options.memory_bytes = budget;
      } else {
        device.memory_bytes = budget;
      }
      PanelReport report;
      const auto got = product(
          inputs, c, [&](const PanelJob& job) { return walk_device(job, device); }, &report);
      EXPECT_EQ(first_fault(c, got), "");
      EXPECT_LE(device.peak_device_bytes, budget);
      EXPECT_LE(device.peak_device_bytes, report.buffer_bytes);
      EXPECT_EQ(report.panels == 1, one_panel) << kernel << " " << budget;
      EXPECT_NEAR(report.kernel_s, 1e-3 * static_cast<double>(report.panels), 1e-9);
    }
  }
}

TEST(PanelWalk, RefusesADeviceTooSmall) {
  Inputs inputs;
  Case c{150, 130, 170, Op::kN, Op::kN, 1, 0, {}, {}, {}, DType::kF32, std::nullopt, {}};
  FakeDevice device(Schedule::kLazy);
  device.memory_bytes = 16 << 10;
  try {
    product(inputs, c, [&](const PanelJob& job) { return walk_device(job, device); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find("smallest that works"), std::string::npos);
  }
  EXPECT_EQ(device.live_objects, 0);
}

TEST(PanelWalk, StoppingFreesEverything) {
  Inputs inputs;
  for (const double limit : {0.0, 0.3, 0.9}) {
    Case c = many_panels();
    c.options.progress = [&](const PanelProgress& p) { return p.fraction < limit; };
    FakeDevice device(Schedule::kLazy);
    test::error_of(ErrorCode::kCancelled, [&] {
      product(inputs, c, [&](const PanelJob& job) { return walk_device(job, device); });
    });
    EXPECT_EQ(device.live_objects, 0);
  }
}

TEST(PanelWalk, RepeatsItsBitsUnderEverySchedule) {
  Inputs inputs;
  Case c = many_panels();
  const auto bits = [&](const Setting& setting) {
    FakeDevice device(setting.schedule, setting.seed);
    return product(inputs, c, [&](const PanelJob& job) { return walk_device(job, device); });
  };
  const std::vector<double> first = bits(kSettings.front());
  for (const Setting& setting : kSettings) EXPECT_EQ(bits(setting), first);
}

}  // namespace
}  // namespace tessera::panel
