// Claims about tiled kernels that arithmetic settles, without a GPU: docs/claims.md names each.
// The kernels are the textbook's, thread by thread.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace tessera {
namespace {

/// How the loads of a tile are guarded.
enum class Guard { kOneForBoth, kEachItsOwn };

/// The tiled kernel for square matrices of `width`, tiles of `t`: two shared tiles, a barrier after
/// the loads and one after the multiply-adds. Shared memory holds what was left there until
/// somebody overwrites it.
std::vector<double> tiled_product(const std::vector<double>& a, const std::vector<double>& b,
                                  int width, int t, Guard guard) {
  std::vector<double> c(a.size(), 0);
  const int blocks = (width + t - 1) / t;
  for (int block_row = 0; block_row < blocks; ++block_row) {
    for (int block_col = 0; block_col < blocks; ++block_col) {
      const auto elements = static_cast<std::size_t>(t * t);
      std::vector<double> s_a(elements, 7), s_b = s_a, sums(elements, 0);
      for (int phase = 0; phase < blocks; ++phase) {
        for (int thread = 0; thread < t * t; ++thread) {
          const int ty = thread / t, tx = thread % t;
          const int row = block_row * t + ty, col = block_col * t + tx;
          const int k_a = phase * t + tx, k_b = phase * t + ty;
          const auto at = [&](const std::vector<double>& x, int i, int j) {
            // Past the end of a row the next one begins; past the last, whatever memory holds.
            const int offset = i * width + j;
            return offset < width * width ? x[static_cast<std::size_t>(offset)] : 1e3;
          };
          const auto own = static_cast<std::size_t>(thread);
          if (guard == Guard::kOneForBoth) {
            if (row < width && col < width) {
              s_a[own] = at(a, row, k_a);
              s_b[own] = at(b, k_b, col);
            }
          } else {
            s_a[own] = row < width && k_a < width ? at(a, row, k_a) : 0;
            s_b[own] = k_b < width && col < width ? at(b, k_b, col) : 0;
          }
        }
        for (int thread = 0; thread < t * t; ++thread) {
          for (int k = 0; k < t; ++k) {
            sums[static_cast<std::size_t>(thread)] +=
                s_a[static_cast<std::size_t>(thread / t * t + k)] *
                s_b[static_cast<std::size_t>(k * t + thread % t)];
          }
        }
      }
      for (int thread = 0; thread < t * t; ++thread) {
        const int row = block_row * t + thread / t, col = block_col * t + thread % t;
        if (row < width && col < width) {
          c[static_cast<std::size_t>(row * width + col)] = sums[static_cast<std::size_t>(thread)];
        }
      }
    }
  }
  return c;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int width) {
  std::vector<double> c(a.size(), 0);
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      for (int k = 0; k < width; ++k) {
        c[static_cast<std::size_t>(i * width + j)] +=
            a[static_cast<std::size_t>(i * width + k)] * b[static_cast<std::size_t>(k * width + j)];
      }
    }
  }
  return c;
}

std::vector<double> numbers(int width, int seed) {
  std::vector<double> x;
  for (int i = 0; i < width * width; ++i) x.push_back((i * 7 + seed) % 11 - 5);
  return x;
}

TEST(Claims, C11_OneGuardAroundBothLoadsIsNotEnough) {
  for (const int width : {15, 17, 30, 33}) {
    const auto a = numbers(width, 1), b = numbers(width, 4);
    const auto right = product(a, b, width);
    EXPECT_EQ(tiled_product(a, b, width, 16, Guard::kEachItsOwn), right) << width;
    EXPECT_NE(tiled_product(a, b, width, 16, Guard::kOneForBoth), right) << width;
  }
  const auto a = numbers(32, 1), b = numbers(32, 4);
  EXPECT_EQ(tiled_product(a, b, 32, 16, Guard::kOneForBoth), product(a, b, 32))
      << "multiples of the tile hide it";
}

TEST(Claims, C7_TwoTilesTakeTwiceTheirElements) {
  const auto bytes = [](int t) { return 2 * t * t * 4; };
  EXPECT_EQ(bytes(8), 512);
  EXPECT_EQ(bytes(16), 2 << 10);
  EXPECT_EQ(bytes(32), 8 << 10);
  EXPECT_EQ(bytes(64), 32 << 10);
}

TEST(Claims, C8_AWarpHasOneRowOnlyWhenTheTileIs32Wide) {
  const auto rows_of_first_warp = [](int t) {
    std::set<int> rows;
    for (int lane = 0; lane < 32; ++lane) rows.insert(lane / t);
    return rows.size();
  };
  EXPECT_EQ(rows_of_first_warp(32), 1U);
  EXPECT_EQ(rows_of_first_warp(16), 2U);
  EXPECT_EQ(rows_of_first_warp(8), 4U);
  // Different rows of As, pitch T, lie in different banks: no conflict for any of them.
  for (const int t : {8, 16, 32}) {
    std::set<int> banks, words;
    for (int lane = 0; lane < 32; ++lane) {
      words.insert(lane / t * t);
      banks.insert(lane / t * t % 32);
    }
    EXPECT_EQ(banks.size(), words.size()) << t;
  }
}

/// The register-tiled loader of B as it is taught: 32 lanes a row, BLOCK_SIZE / 32 rows in one pass
/// and no loop over more of them.
int rows_of_b_loaded(int threads) { return threads / 32; }

TEST(Claims, C9_TheTaughtLoaderOfBFitsOneDepthOnly) {
  EXPECT_EQ(rows_of_b_loaded(256), 8) << "right for BK = 8";
  EXPECT_LT(rows_of_b_loaded(256), 16) << "for BK = 16 half of the tile is never loaded";
}

TEST(Claims, C5_ATilesIntensityDoesNotDependOnItsDepth) {
  const auto flop_per_byte = [](double bm, double bn, double bk) {
    return 2 * bm * bn * bk / (4 * (bm * bk + bk * bn));
  };
  EXPECT_EQ(flop_per_byte(128, 128, 8), 32);
  EXPECT_EQ(flop_per_byte(128, 128, 32), 32);
  // The same area, more edge.
  EXPECT_LT(flop_per_byte(64, 256, 8), 32);
  EXPECT_LT(flop_per_byte(256, 64, 8), 32);
}

TEST(Claims, C6_SixtyFourByThreadsDoNotFitABlock) { EXPECT_GT(64 * 64, 1024); }

}  // namespace
}  // namespace tessera
