// Counts from the algorithm, against the numbers of docs/ladder and against loops over lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "bench/traffic.h"

namespace tessera::bench {
namespace {

constexpr double kCube = 1024.0 * 1024.0 * 1024.0;

Problem square(std::int64_t size, bool trans_a = false, bool trans_b = false,
               DType dtype = DType::kF32) {
  Problem p;
  p.dtype = dtype;
  p.space = Space::kCuda;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = size;
  p.trans_a = trans_a;
  p.trans_b = trans_b;
  return p;
}

Kernel kernel(const std::string& id, std::int64_t m, std::int64_t n, std::int64_t k) {
  Kernel out;
  out.id = KernelId::parse(id).value();
  out.tile_m = m;
  out.tile_n = n;
  out.tile_k = k;
  return out;
}

/// A count, or NaN, which no comparison takes for right.
double count(const Kernel& k, const Problem& p, const std::string& name) {
  for (const auto& [key, value] : analytic_counts(k, p)) {
    if (key == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

const Kernel kNaive = kernel("cuda.naive.f32", 16, 16, 8);
const Kernel kTiled16 = kernel("cuda.tiled.f32.t16", 16, 16, 16);
const Kernel kRegister = kernel("cuda.register_tiled.f32.128x128x8_t8x8", 128, 128, 8);
const Kernel kWide = kernel("cuda.vectorized.f32.128x128x16_t8x8_v4", 128, 128, 16);
const Kernel kNarrow = kernel("cuda.vectorized.f32.128x128x16_t8x8_v1", 128, 128, 16);
const Kernel kAsync = kernel("cuda.double_buffered.f32.128x128x16_t8x8_s2_v4", 128, 128, 16);
const Kernel kLarge = kernel("cuda.warp_tiled.f32.128x256x8_t8x16", 128, 256, 8);
const Kernel kMedium = kernel("cuda.warp_tiled.f32.64x128x16_t8x8", 64, 128, 16);
const Kernel kSliced = kernel("cuda.warp_tiled.f32.64x128x16_t8x8_k2", 64, 128, 16);
const Kernel kSmall = kernel("cuda.warp_tiled.f32.32x64x16_t4x4", 32, 64, 16);

const Kernel kPacked = kernel("cuda.packed.f32.128x256x32_t16x8", 128, 256, 32);

struct Expected {
  const Kernel* kernel;
  double requests, sectors, flops_per_byte;
};

TEST(Traffic, SquaresAreAsTheLadderSays) {
  const Expected rows[] = {
      {&kNaive, kCube / 16, kCube / 8, 0.5},
      {&kTiled16, kCube / 256, kCube / 64, 4},
      {&kRegister, kCube / 2048, kCube / 512, 32},
      {&kWide, kCube / 8192, kCube / 512, 32},
      {&kNarrow, kCube / 2048, kCube / 512, 32},
      {&kAsync, kCube / 4096 + kCube / 16384, kCube / 512, 32},
      // 4 (1/BM + 1/BN) bytes for each of S^3; A by 4 bytes, B by 16.
      {&kLarge, kCube / 8192 + kCube / 16384, kCube * 3 / 2048, 128.0 / 3},
      {&kMedium, kCube / 4096 + kCube / 8192, kCube * 3 / 1024, 64.0 / 3},
      {&kSliced, kCube / 4096 + kCube / 8192, kCube * 3 / 1024, 64.0 / 3},
      {&kSmall, kCube / 2048 + kCube / 4096, kCube * 3 / 512, 32.0 / 3},
      {&kPacked, 0, kCube * 3 / 2048, 128.0 / 3},  // the copy engine asks, no warp does
  };
  for (const Expected& row : rows) {
    SCOPED_TRACE(row.kernel->id.to_string());
    const Problem p = square(1024);
    EXPECT_DOUBLE_EQ(count(*row.kernel, p, "global_load_requests"), row.requests);
    EXPECT_DOUBLE_EQ(count(*row.kernel, p, "global_load_sectors"), row.sectors);
    EXPECT_DOUBLE_EQ(count(*row.kernel, p, "multiply_adds"), kCube / 32);
    EXPECT_DOUBLE_EQ(count(*row.kernel, p, "flops_per_byte"), row.flops_per_byte);
  }
}

// What counters of an H200 showed for these two kernels at 1024.
TEST(Traffic, SectorsAreThoseThatCountersShow) {
  EXPECT_EQ(count(kNaive, square(1024), "global_load_sectors"), 134217728);
  EXPECT_EQ(count(kRegister, square(1024), "global_load_sectors"), 2097152);
}

TEST(Traffic, SharedWavefronts) {
  const Problem p = square(1024);
  const auto each = [&](const Kernel& k, double stores) {
    return count(k, p, "shared_wavefronts") / count(k, p, "multiply_adds") - stores;
  };
  EXPECT_EQ(count(kNaive, p, "shared_wavefronts"), 0);
  // k02: five reads for four multiply-adds; a warp stores two rows of each tile for its 16, and
  // rows of 20 and of 17 words overlap in some banks.
  EXPECT_DOUBLE_EQ(each(kTiled16, 4.0 / 16), 5.0 / 4);
  // k03: 16 for 64. A tile of 128 x 8 and one of 8 x 128 are 64 wavefronts, for 8 * 8 * 64.
  EXPECT_DOUBLE_EQ(each(kRegister, 64.0 / 4096), 16.0 / 64);
  // k04, k05: 8 for 64 when all pairs go together, the stores in proportion.
  EXPECT_DOUBLE_EQ(each(kWide, 128.0 / 8192), 8.0 / 64);
  EXPECT_DOUBLE_EQ(each(kNarrow, 128.0 / 8192), 8.0 / 64);
  EXPECT_DOUBLE_EQ(each(kAsync, 128.0 / 8192), 8.0 / 64);
  // k06: one 16-byte read for 21, 16 and 8 multiply-adds, two passes each.
  EXPECT_DOUBLE_EQ(each(kLarge, 96.0 / 8192), 2 / (64.0 / 3));
  EXPECT_DOUBLE_EQ(each(kMedium, 96.0 / 4096), 2.0 / 16);
  EXPECT_DOUBLE_EQ(each(kSmall, 48.0 / 1024), 2.0 / 8);
  // The second slice hands over 64 x 128 sums a tile, written and read once.
  EXPECT_DOUBLE_EQ(count(kSliced, p, "shared_wavefronts") - count(kMedium, p, "shared_wavefronts"),
                   2 * 16 * 8 * 64 * 128 * 4 / 128.0);
}

TEST(Traffic, TransposedOperands) {
  // k01: two neighbours of A in one sector; sixteen rows of B, a sector each.
  EXPECT_DOUBLE_EQ(count(kNaive, square(1024, true), "global_load_sectors"), 3 * kCube / 32);
  EXPECT_DOUBLE_EQ(count(kNaive, square(1024, false, true), "global_load_sectors"),
                   18 * kCube / 32);
  // k02: T = 32 walks columns of 33 words without a conflict, those of A's 36 eight at a time.
  const Kernel t32 = kernel("cuda.tiled.f32.t32", 32, 32, 32);
  const auto stores = [&](bool trans_a, bool trans_b) {
    const Problem p = square(1024, trans_a, trans_b);
    return 32 * (count(t32, p, "shared_wavefronts") / count(t32, p, "multiply_adds") - 1.25);
  };
  EXPECT_NEAR(stores(false, false), 2, 1e-9);
  EXPECT_NEAR(stores(false, true), 2, 1e-9);
  EXPECT_NEAR(stores(true, false), 5, 1e-9);
  // k05 and k06: whichever operand is contiguous along k travels by 4 bytes.
  const double by_4 = kCube / 4096, by_16 = kCube / 16384;
  EXPECT_DOUBLE_EQ(count(kAsync, square(1024, true, false), "global_load_requests"), 2 * by_16);
  EXPECT_DOUBLE_EQ(count(kAsync, square(1024, false, true), "global_load_requests"), 2 * by_4);
  EXPECT_DOUBLE_EQ(count(kLarge, square(1024, true, true), "global_load_requests"),
                   kCube / 32768 + kCube / 4096);
  Problem unaligned = square(1024);
  unaligned.align_b = 4;
  EXPECT_DOUBLE_EQ(count(kLarge, unaligned, "global_load_requests"), kCube / 8192 + kCube / 4096);
}

TEST(Traffic, DoublesMoveTwiceTheBytes) {
  const Kernel f64 = kernel("cuda.vectorized.f64.64x64x16_t4x4_v2", 64, 64, 16);
  const Problem p = square(1024, false, false, DType::kF64);
  EXPECT_DOUBLE_EQ(count(f64, p, "global_load_sectors"), 8 * kCube * 2 / 64 / 32);
  EXPECT_DOUBLE_EQ(count(f64, p, "global_load_requests"), kCube / 2048);  // 16 sectors each
  EXPECT_DOUBLE_EQ(count(f64, p, "flops_per_byte"), 8);
}

TEST(Traffic, EdgesCountAsWholeTiles) {
  Problem p = square(1024);
  p.m = 1000, p.n = 1001, p.k = 1003;
  // 1024 x 1024 x 1008 for tiles of 128, and 1008 cubed for those of 16.
  for (const Kernel* k : {&kRegister, &kNarrow, &kAsync}) {
    EXPECT_DOUBLE_EQ(count(*k, p, "global_load_sectors"), 1024.0 * 1024 * 1008 / 512);
    EXPECT_DOUBLE_EQ(count(*k, p, "multiply_adds"), 1024.0 * 1024 * 1008 / 32);
  }
  EXPECT_DOUBLE_EQ(count(kTiled16, p, "global_load_sectors"), 1008.0 * 1008 * 1008 / 64);
  // The naive kernel walks k itself.
  EXPECT_DOUBLE_EQ(count(kNaive, p, "multiply_adds"), 1008.0 * 1008 * 1003 / 32);
  p.batch = 3;
  EXPECT_DOUBLE_EQ(count(kNaive, p, "multiply_adds"), 3 * 1008.0 * 1008 * 1003 / 32);
}

TEST(Traffic, EveryCudaKernelOfThisBuildIsKnown) {
  for (const Kernel& k : registry().kernels()) {
    const auto counts = analytic_counts(k, square(512, false, false, k.id.dtype));
    EXPECT_EQ(counts.empty(), k.id.backend != "cuda") << k.name;
    for (const auto& [name, value] : counts) {
      const bool is_finite = std::isfinite(value) && value >= 0;
      EXPECT_TRUE(is_finite) << k.name << " " << name << " " << value;
    }
  }
  EXPECT_TRUE(analytic_counts(kernel("cuda.unheard_of.f32", 1, 1, 1), square(64)).empty());
}

}  // namespace
}  // namespace tessera::bench
