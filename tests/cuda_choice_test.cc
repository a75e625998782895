// Which kernel `auto` takes on an H200 for shapes that each need another tile. Needs no GPU.
#include <gtest/gtest.h>

#include <string>

#include "tessera/kernel.h"

namespace tessera {
namespace {

std::string choice(std::int64_t m, std::int64_t n, std::int64_t k) {
  DeviceInfo device;
  device.space = Space::kCuda;
  device.compute_major = 9;
  device.sm_count = 132;
  device.max_threads_per_block = 1024;
  device.shared_bytes_per_block = 227 << 10;
  Problem p;
  p.space = Space::kCuda;
  p.m = m;
  p.n = n;
  p.k = p.lda = k;
  p.ldb = p.ldc = n;
  return registry().choose(p, device).id.config;
}

TEST(AutoOnH200, LargeTilesForManyOfThem) {
  EXPECT_EQ(choice(4096, 4096, 4096), "128x256x8_t8x16");
  EXPECT_EQ(choice(8192, 8192, 8192), "128x256x8_t8x16");
}

TEST(AutoOnH200, SeveralBlocksAMultiprocessorForAShortK) {
  EXPECT_EQ(choice(8192, 8192, 256), "64x128x16_t8x8");
}

TEST(AutoOnH200, TilesCutAlongKWhereTheyAreFew) {
  EXPECT_EQ(choice(256, 256, 16384), "64x128x16_t8x8");
  EXPECT_EQ(choice(64, 4096, 4096), "64x128x16_t8x8");
  EXPECT_EQ(choice(4096, 64, 4096), "128x64x16_t8x8");
}

TEST(AutoOnH200, SlicesForAboutOneTileAMultiprocessor) {
  EXPECT_EQ(choice(1024, 1024, 1024), "64x128x16_t8x8_k2");
  EXPECT_EQ(choice(1000, 1001, 1003), "64x128x16_t8x8_k2");
}

TEST(AutoOnH200, SmallTilesForSmallProducts) {
  EXPECT_EQ(choice(512, 512, 512), "32x64x16_t4x4");
  EXPECT_EQ(choice(16, 4096, 4096), "32x64x16_t4x4");
}

}  // namespace
}  // namespace tessera
