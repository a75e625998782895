// Which block computes what, and when tiles are cut: arithmetic that needs no GPU.
#include "cuda/tile_schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "cuda/plan_tiles.h"

namespace tessera::cuda {
namespace {

TileSchedule make(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch,
                  std::int64_t steps, std::int64_t whole, std::int64_t share) {
  TileSchedule s;
  s.tiles_m = tiles_m;
  s.tiles_n = tiles_n;
  s.batch = batch;
  s.steps = steps;
  s.whole = whole;
  s.share = share;
  return s;
}

/// Every step of every tile is some block's, once; every piece of a tile has a slot of its own, and
/// those of one tile are consecutive and in the order of k.
void expect_complete(const TileSchedule& s) {
  std::vector<int> taken(static_cast<std::size_t>(s.tiles() * s.steps), 0);
  std::map<std::int64_t, std::vector<std::int64_t>> slots_of_tile;
  std::set<std::int64_t> slots;
  for (std::int64_t block = 0; block < s.blocks(); ++block) {
    ASSERT_LT(s.first_step(block), s.end_step(block)) << block;
    for (std::int64_t step = s.first_step(block); step < s.end_step(block);) {
      const std::int64_t tile = step / s.steps;
      const std::int64_t end = std::min(s.end_step(block), (tile + 1) * s.steps);
      for (; step < end; ++step) ++taken[static_cast<std::size_t>(step)];
      if (block < s.whole) continue;
      const std::int64_t slot = s.slot(block - s.whole, tile);
      EXPECT_TRUE(slots.insert(slot).second) << slot;
      EXPECT_GE(slot, 0);
      EXPECT_LT(slot, s.slots());
      slots_of_tile[tile].push_back(slot);
    }
  }
  for (int count : taken) ASSERT_EQ(count, 1);
  for (std::int64_t tile = s.whole; tile < s.tiles(); ++tile) {
    std::vector<std::int64_t> summed;
    for (std::int64_t piece = s.first_piece(tile); piece <= s.last_piece(tile); ++piece) {
      summed.push_back(s.slot(piece, tile));
    }
    EXPECT_EQ(summed, slots_of_tile[tile]) << tile;
  }
}

TEST(TileSchedule, EveryStepIsTakenOnce) {
  for (std::int64_t steps : {1, 2, 7, 64}) {
    for (std::int64_t tiles : {1, 3, 10}) {
      for (std::int64_t whole = 0; whole <= tiles; ++whole) {
        for (std::int64_t share = 1; share <= 2 * steps; ++share) {
          expect_complete(make(tiles, 1, 1, steps, whole, share));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(TileSchedule, PlacesAreAllDifferentAndInside) {
  for (auto [m, n, batch] : {std::tuple{1, 1, 1}, {8, 5, 1}, {9, 4, 3}, {23, 2, 2}, {3, 17, 1}}) {
    const TileSchedule s = make(m, n, batch, 4, 0, 1);
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
    for (std::int64_t tile = 0; tile < s.tiles(); ++tile) {
      const TileSchedule::Place place = s.place(tile);
      EXPECT_LT(place.batch, batch);
      EXPECT_LT(place.row, m);
      EXPECT_LT(place.col, n);
      EXPECT_TRUE(seen.insert({place.batch, place.row, place.col}).second);
    }
  }
}

DeviceInfo h200() {
  DeviceInfo device;
  device.compute_major = 9;
  device.sm_count = 132;
  return device;
}

TilePlan plan(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  return plan_tiles(p, h200(), {64, 128, 16, 4, 3, 0.9});
}

TEST(PlanTiles, CutsWhereTilesAreFewAndKIsLong) {
  EXPECT_EQ(plan(256, 256, 16384).schedule.whole, 0);
  EXPECT_GT(plan(64, 4096, 4096).schedule.slots(), 0);
  // One wave exactly, a product of one step, a shallow one that is not worth the second kernel.
  EXPECT_EQ(plan(64 * 12, 128 * 33, 4096).schedule.slots(), 0);
  EXPECT_EQ(plan(64, 128, 16).schedule.slots(), 0);
  EXPECT_EQ(plan(8192, 8192, 128).schedule.slots(), 0);
}

TEST(PlanTiles, SchedulesAreComplete) {
  for (std::int64_t m : {1, 64, 1000, 3001}) {
    for (std::int64_t k : {1, 300, 1031, 20000}) {
      const TilePlan p = plan(m, 1500, k);
      expect_complete(p.schedule);
      EXPECT_GT(p.us, 0);
    }
  }
}

TEST(PlanTiles, MoreWorkTakesLonger) {
  double last = 0;
  for (std::int64_t k = 256; k <= 65536; k *= 2) {
    const double us = plan(512, 512, k).us;
    EXPECT_GT(us, last) << k;
    last = us;
  }
}

}  // namespace
}  // namespace tessera::cuda
