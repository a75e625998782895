// Requests of warps where the GPU's compiler chose other widths than the source.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "simt/run/warp_log.h"

namespace tessera::simt::test {
namespace {

/// Accesses of every lane, each at lane * `pitch` bytes from the address.
struct Asked {
  std::uint64_t address;
  int bytes;
  std::uint32_t pc = 1;
  std::uint64_t pitch = 1024;
};

std::map<int, SiteCounts> counted(const CompiledWidth& compiled, const std::vector<Asked>& all) {
  WarpLog log;
  log.set_base(0, 0);
  log.set_widths([&](const LoggedAccess&) { return compiled; });
  std::array<WarpLog::Lane, 32> lanes;
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    for (const Asked& a : all) {
      LoggedAccess access{};
      access.address = 65536 + a.address + lane * a.pitch;
      access.pc = a.pc;
      access.bytes = static_cast<std::uint8_t>(a.bytes);
      access.is_write = true;
      lanes[lane].push_back(access);
    }
  }
  log.analyse(lanes, 32);
  std::map<int, SiteCounts> by_bytes;
  for (const auto& [key, counts] : log.sites()) {
    by_bytes[key.bytes].add(counts);
    EXPECT_EQ(key.is_part, key.bytes < 16 && all.back().bytes == 16) << key.bytes;
  }
  return by_bytes;
}

TEST(Widths, NarrowAccessesAreJoined) {
  auto c = counted({16, 1, {}, 0}, {{0, 4}, {4, 4}, {8, 4}, {12, 4}, {16, 4}});
  EXPECT_EQ(c[16].requests, 1U);
  EXPECT_EQ(c[4].requests, 1U) << "what fills no piece stays";
}

TEST(Widths, WideOnesAreTakenApart) {
  auto c = counted({4, 8, {}, 0}, {{0, 16}, {16, 16}});
  ASSERT_EQ(c.size(), 1U);
  EXPECT_EQ(c[4].requests, 8U);
  EXPECT_EQ(c[4].sectors, 8U * 32) << "each lane's piece is in a sector of its own";
  EXPECT_EQ(c[4].lanes, 8U * 32);
  // Too few instructions for that: they are of something else on the line.
  c = counted({4, 3, {}, 0}, {{0, 16}});
  EXPECT_EQ(c[16].requests, 1U);
  EXPECT_EQ(c.size(), 1U);
}

TEST(Widths, CopiesOfOneLineMayDiffer) {
  // Two copies in pieces, then two whole: twice, and from several places in the source's code.
  const CompiledWidth mixed{16, 10, {4, 4, 4, 4, 4, 4, 4, 4, 16, 16}, 7};
  std::vector<Asked> all;
  for (std::uint32_t i = 0; i < 8; ++i) all.push_back({i * 64, 16, i + 1});
  auto c = counted(mixed, all);
  EXPECT_EQ(c[4].requests, 16U);
  EXPECT_EQ(c[16].requests, 4U);
  EXPECT_EQ(c[4].useful_bytes, c[16].useful_bytes);
  // A line that also asks for less in the source: which is which is not known.
  all.push_back({512, 4, 9});
  c = counted(mixed, all);
  EXPECT_EQ(c[16].requests, 8U);
  EXPECT_EQ(c[4].requests, 1U);
}

}  // namespace
}  // namespace tessera::simt::test
