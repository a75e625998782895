// A block's share of a TileSchedule, when the blocks stay for several tiles.
#pragma once

#include "cuda/tile_schedule.h"

namespace tessera::cuda {

/// The parts of tiles that a block computes, one after the other: whole ones, then its piece.
class Segments {
 public:
  std::int64_t tile;
  int first, count;  // stages

  __device__ explicit Segments(const TileSchedule& plan) : plan_(plan), next_whole_(blockIdx.x) {
    if (blockIdx.x < plan.pieces()) {
      step_ = plan.first_step(plan.whole + blockIdx.x);
      end_ = plan.end_step(plan.whole + blockIdx.x);
    }
  }
  __device__ bool next() {
    if (next_whole_ < plan_.whole) {
      tile = next_whole_, first = 0, count = static_cast<int>(plan_.steps);
      next_whole_ += gridDim.x;
      return true;
    }
    if (step_ >= end_) return false;
    tile = step_ / plan_.steps;
    first = static_cast<int>(step_ - tile * plan_.steps);
    count = static_cast<int>(min(end_ - step_, plan_.steps - first));
    step_ += count;
    return true;
  }

 private:
  const TileSchedule& plan_;
  std::int64_t next_whole_, step_ = 0, end_ = 0;
};

}  // namespace tessera::cuda
