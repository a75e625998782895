// Wavefronts as an H200 counted them (bench/results/other/2026-11-30_h200_shared_patterns.json):
// the patterns of tests/check/hardware/shared_patterns.cu, in each width.
#include "simt/banks.h"

#include <gtest/gtest.h>

namespace tessera::simt {
namespace {

int vector_of(int pattern, int lane, int words) {
  switch (pattern) {
    case 0:
      return lane;
    case 1:
      return 0;
    case 2:
      return lane / 16;
    case 3:
      return lane % 2;
    case 4:
      return lane / 8;
    case 5:
      return lane % 4;
    case 6:
      return lane % 8;
    case 7:
      return lane / 4;
    case 8:
      return lane % 16;
    case 9:
      return lane / 2;
    case 10:
      return 2 * lane;
    case 11:
      return 8 * lane;
    case 12:
      return 32 * lane / words;
    case 13:
      return lane * (32 + words) / words;
    case 14:
      return lane / 16 * (20 / words) + lane % 16;
    default:
      return lane * 5 % 32;
  }
}

struct Measured {
  unsigned wavefronts, conflicts;
};
// [width 4, 8, 16][pattern]
constexpr Measured kMeasured[3][16] = {{{1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {2, 1},
                                        {8, 7},
                                        {32, 31},
                                        {1, 0},
                                        {2, 1},
                                        {1, 0}},
                                       {{2, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {1, 0},
                                        {2, 0},
                                        {2, 0},
                                        {1, 0},
                                        {2, 0},
                                        {1, 0},
                                        {4, 2},
                                        {16, 14},
                                        {32, 30},
                                        {2, 0},
                                        {2, 0},
                                        {2, 0}},
                                       {{4, 0},
                                        {2, 0},
                                        {2, 0},
                                        {2, 0},
                                        {2, 0},
                                        {4, 0},
                                        {4, 0},
                                        {2, 0},
                                        {4, 0},
                                        {2, 0},
                                        {8, 4},
                                        {32, 28},
                                        {32, 28},
                                        {4, 0},
                                        {4, 0},
                                        {4, 0}}};

TEST(Banks, CountsWhatTheHardwareCounts) {
  for (int width = 0; width < 3; ++width) {
    const int words = 1 << width;
    for (int pattern = 0; pattern < 16; ++pattern) {
      std::uintptr_t addresses[32];
      bool active[32];
      for (int lane = 0; lane < 32; ++lane) {
        addresses[lane] = 4U * words * vector_of(pattern, lane, words);
        active[lane] = true;
      }
      const BankCount counted = count_banks(addresses, active, 4 * words);
      const Measured& measured = kMeasured[width][pattern];
      EXPECT_EQ(counted.wavefronts, measured.wavefronts) << words << " words, pattern " << pattern;
      EXPECT_EQ(counted.wavefronts - counted.ideal, measured.conflicts)
          << words << " words, pattern " << pattern;
    }
  }
}

TEST(Banks, LanesThatTakeNoPartCostNothing) {
  std::uintptr_t addresses[32] = {};
  bool active[32] = {};
  EXPECT_EQ(count_banks(addresses, active, 16).wavefronts, 0U);
  active[9] = true;
  EXPECT_EQ(count_banks(addresses, active, 16).wavefronts, 1U);
  for (int lane = 0; lane < 32; ++lane) addresses[lane] = 128U * lane, active[lane] = lane < 5;
  EXPECT_EQ(count_banks(addresses, active, 4).wavefronts, 5U);
  EXPECT_EQ(count_banks(addresses, active, 4).degree, 5U);
}

}  // namespace
}  // namespace tessera::simt
