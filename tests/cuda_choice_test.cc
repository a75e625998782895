// Which kernel `auto` takes on an H200 for shapes that each need another tile. Needs no GPU.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "tessera/kernel.h"

namespace tessera {
namespace {

DeviceInfo h200() {
  DeviceInfo device;
  device.space = Space::kCuda;
  device.compute_major = 9;
  device.sm_count = 132;
  device.max_threads_per_block = 1024;
  device.shared_bytes_per_block = 227 << 10;
  device.memory_bytes = 141LL * 1000 * 1000 * 1000;
  return device;
}

/// Dense operands that start at multiples of 256 bytes.
Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& ops = "NN") {
  Problem p;
  p.space = Space::kCuda;
  p.m = m, p.n = n, p.k = k;
  p.trans_a = ops[0] == 'T', p.trans_b = ops[1] == 'T';
  p.lda = p.trans_a ? m : k;
  p.ldb = p.trans_b ? k : n;
  p.ldc = n;
  const auto alignment = [](std::int64_t ld) { return ld % 4 == 0 ? 16 : 4; };
  p.align_a = alignment(p.lda), p.align_b = alignment(p.ldb), p.align_c = alignment(p.ldc);
  return p;
}

std::string choice(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& ops = "NN") {
  return registry().choose(problem(m, n, k, ops), h200()).id.config;
}

TEST(AutoOnH200, LargeTilesForManyOfThem) {
  for (const char* ops : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(choice(4096, 4096, 4096, ops), "128x256x32_t16x8") << ops;
  }
  EXPECT_EQ(choice(8192, 8192, 8192), "128x256x32_t16x8");
  EXPECT_EQ(choice(8192, 8192, 8192, "NT"), "128x256x32_t16x8");
  EXPECT_EQ(choice(8192, 8192, 8192, "TT"), "128x256x32_t16x8");
  EXPECT_EQ(choice(1536, 1536, 1536), "128x256x32_t16x8");
  EXPECT_EQ(choice(4095, 4095, 4095), "128x256x32_t16x8");
  EXPECT_EQ(choice(4097, 4097, 4097), "128x256x32_t16x8");
}

TEST(AutoOnH200, PackingPaysWhereCopiesWouldTranspose) {
  EXPECT_EQ(choice(2048, 2048, 2048), "128x256x8_t8x16");
  EXPECT_EQ(choice(2048, 2048, 2048, "TN"), "128x256x8_t8x16");
  EXPECT_EQ(choice(2048, 2048, 2048, "NT"), "128x256x32_t16x8");
  EXPECT_EQ(choice(1024, 1024, 1024, "NT"), "64x128x64_t16x8_k4");
  for (const char* ops : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(choice(1000, 1001, 1003, ops), "64x128x64_t16x8_k4") << ops;
  }
}

TEST(AutoOnH200, StagesAreTurnedForAThinProduct) {
  // Packing would move the wide operand twice more.
  for (const char* ops : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(choice(64, 4096, 4096, ops), "64x128x64_t16x8_k4") << ops;
    EXPECT_EQ(choice(4096, 64, 4096, ops), "128x64x64_t16x8_k4") << ops;
  }
}

TEST(AutoOnH200, SeveralBlocksAMultiprocessorForAShortK) {
  EXPECT_EQ(choice(8192, 8192, 256), "64x128x16_t8x8");
}

TEST(AutoOnH200, TilesCutAlongKWhereTheyAreFew) {
  EXPECT_EQ(choice(256, 256, 16384), "64x128x16_t8x8");
}

TEST(AutoOnH200, SlicesForAboutOneTileAMultiprocessor) {
  EXPECT_EQ(choice(1024, 1024, 1024), "64x128x64_t16x8_k4");
  EXPECT_EQ(choice(1024, 1024, 1024, "TN"), "64x128x64_t16x8_k4");
}

TEST(AutoOnH200, SmallTilesForSmallProducts) {
  EXPECT_EQ(choice(512, 512, 512), "32x64x16_t4x4");
  EXPECT_EQ(choice(16, 4096, 4096), "32x64x16_t4x4");
}

const Kernel& packed() {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.stem == "k07_packed") return kernel;
  }
  throw std::runtime_error("k07_packed is not registered");
}

std::size_t workspace(const Problem& p) { return packed().workspace_bytes(p, h200(), 1); }

TEST(Packing, TakesMemoryForWhatCannotBeFetchedAsItLies) {
  // 16 tiles of 128 x 256: none is cut, so the workspace holds copies only.
  Problem p = problem(16896, 256, 64, "TN");
  EXPECT_EQ(workspace(p), 0U);
  p.align_a = 8;
  EXPECT_EQ(workspace(p), std::size_t{4} * 16896 * 64);
  p.align_b = 4;
  EXPECT_EQ(workspace(p), std::size_t{4} * (16896 + 256) * 64);
}

TEST(Packing, CopiesASharedOperandOnce) {
  Problem p = problem(16896, 256, 64, "NN");
  p.align_a = 4;
  p.batch = 4;
  p.stride_a = 0, p.stride_b = 256 * 64, p.stride_c = 16896 * 256;
  EXPECT_EQ(workspace(p), std::size_t{4} * 16896 * 64);
  p.stride_a = 16896 * 64;
  EXPECT_EQ(workspace(p), std::size_t{16} * 16896 * 64);
}

TEST(Packing, OnlyWhereItCostsLessThanTurningEveryStage) {
  // One tile's rows of A turned for each of few columns of tiles, or once for many.
  EXPECT_EQ(workspace(problem(16896, 256, 64, "NN")), 0U);
  EXPECT_GE(workspace(problem(16896, 25600, 64, "NN")), std::size_t{4} * 16896 * 64);
}

TEST(Packing, IsRefusedWhereItCannotRun) {
  DeviceInfo device = h200();
  const Problem p = problem(256, 256, 256);
  EXPECT_FALSE(packed().can_implement(p, device).has_value());
  device.compute_major = 8;
  EXPECT_TRUE(packed().can_implement(p, device).has_value());
  device = h200();
  device.shared_bytes_per_block = 99 << 10;
  EXPECT_TRUE(packed().can_implement(p, device).has_value());
  device = h200();
  device.memory_bytes = 1 << 20;
  const std::optional<Rejection> rejection = packed().can_implement(p, device);
  ASSERT_TRUE(rejection.has_value());
  EXPECT_NE(rejection->rule.find("eighth"), std::string::npos) << rejection->rule;
  // The refused kernel is not chosen, another is.
  EXPECT_NE(registry().choose(problem(4096, 4096, 4096), device).stem, "k07_packed");
}

}  // namespace
}  // namespace tessera
