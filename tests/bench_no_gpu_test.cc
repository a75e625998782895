// Measuring a GPU in a build without CUDA: refused with a reason, everywhere.
#include "bench/clocks.h"
#include "bench/gpu.h"
#include "bench/peer_cublas.h"
#include "support/errors.h"

namespace tessera::bench {
namespace {

using test::error_of;

TEST(NoGpu, EveryFunctionSaysThatTheBuildHasNoCuda) {
  const auto refused = [](auto f) { return error_of(ErrorCode::kNoDevice, f); };
  EXPECT_SAYS(refused([] { gpu::measure_peaks(); }), "TESSERA_CUDA=ON");
  EXPECT_SAYS(refused([] { gpu::versions(); }), "TESSERA_CUDA=ON");
  EXPECT_SAYS(refused([] { gpu::pci_bus_id(0); }), "TESSERA_CUDA=ON");
  EXPECT_SAYS(refused([] { gpu::fill(nullptr, 0, 1, nullptr); }), "TESSERA_CUDA=ON");
  bool was_called = false;
  EXPECT_SAYS(refused([&] { gpu::Graph(nullptr, [&] { was_called = true; }); }), "TESSERA_CUDA=ON");
  EXPECT_FALSE(was_called);
}

TEST(NoGpu, ClocksAreUnknownAndSayWhy) {
  ClockWatch watch(0);
  EXPECT_FALSE(watch.unavailable().empty());
  EXPECT_EQ(watch.unavailable().find('\n'), std::string::npos);
  const ClockSample sample = watch.sample();
  EXPECT_EQ(sample.sm_mhz, 0);
  EXPECT_EQ(sample.power_w, 0);
  EXPECT_TRUE(sample.throttled.empty());
}

TEST(NoGpu, CublasIsAbsentAndSaysWhy) {
  std::string why_not;
  EXPECT_EQ(open_cublas(&why_not), nullptr);
  EXPECT_SAYS(why_not, "TESSERA_CUDA=ON");
}

}  // namespace
}  // namespace tessera::bench
