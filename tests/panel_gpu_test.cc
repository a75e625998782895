// Products in panels on a real GPU.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "panel_support.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

class PanelGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) GTEST_SKIP() << "no GPU: " << cuda_unavailable_reason();
  }
  static PanelReport on_gpu(const PanelJob& job) { return run_cuda(job); }
  Inputs inputs_;
};

Case gpu_case(std::int64_t m, std::int64_t n, std::int64_t k, std::optional<PanelShape> shape) {
  Case c{m, n, k, Op::kN, Op::kN, 1, 0, {}, {}, {}, DType::kF32, shape, {}};
  c.options.space = Space::kCuda;
  return c;
}

TEST_F(PanelGpu, LastShortTileWithTwoStreams) {
  for (const double beta : {0.0, 1.0}) {
    Case small = gpu_case(5, 2, 1, PanelShape{4, 2, 1, true});
    Case large = gpu_case(5427, 217, 2170, PanelShape{5000, 5000, 5000, true});
    small.beta = large.beta = beta;
    EXPECT_EQ(fault(inputs_, small, on_gpu), "");
    EXPECT_EQ(fault(inputs_, large, on_gpu), "");
  }
}

TEST_F(PanelGpu, MatchesTheReferenceInManyPanels) {
  for (const Op op_a : {Op::kN, Op::kT}) {
    for (const Op op_b : {Op::kN, Op::kT}) {
      for (const bool fortran : {false, true}) {
        for (const DType compute : {DType::kF32, DType::kF64}) {
          for (const PanelShape& shape : {PanelShape{130, 150, 170, true},
                                          {129, 64, 170, true},
                                          {64, 149, 65, false},
                                          {50, 50, 50, true}}) {
            Case c = gpu_case(130, 150, 170, shape);
            c.op_a = op_a;
            c.op_b = op_b;
            c.alpha = 0.5;
            c.beta = 3;
            c.a = {DType::kF16, fortran};
            c.b = {DType::kF32, !fortran};
            c.c0 = {DType::kF64, fortran};
            c.options.compute = compute;
            ASSERT_EQ(fault(inputs_, c, on_gpu), "");
          }
        }
      }
    }
  }
}

TEST_F(PanelGpu, KeepsABudgetAndRepeatsItsBits) {
  Case c = gpu_case(700, 650, 900, std::nullopt);
  c.options.memory_bytes = 2 << 20;
  PanelReport report;
  const std::vector<double> first = product(inputs_, c, on_gpu, &report);
  EXPECT_EQ(first_fault(c, first), "");
  EXPECT_GT(report.panels, 1);
  EXPECT_LE(report.buffer_bytes, c.options.memory_bytes);
  EXPECT_GT(report.kernel_s, 0);
  EXPECT_EQ(product(inputs_, c, on_gpu), first);
}

TEST_F(PanelGpu, OnePanelWhenEverythingFits) {
  const Case c = gpu_case(300, 200, 100, std::nullopt);
  PanelReport report;
  EXPECT_EQ(first_fault(c, product(inputs_, c, on_gpu, &report)), "");
  EXPECT_EQ(report.panels, 1);
}

}  // namespace
}  // namespace tessera::panel
