// How long a tiled kernel will take, from shape and device alone. It only has to order candidates.
//
// The busiest multiprocessor computes per_sm = ceil(tiles / multiprocessors) tiles, each in
// ceil(k / tile_k) steps. A step is arithmetic, at `peak_fraction` of the multiplier peak, and then
// the wait for the next tiles. Blocks that are resident together wait together:
//
//   time = launch + steps * max(per_sm * (arithmetic + wait / resident),
//                               ceil(per_sm / resident) * (arithmetic + wait))
//
// So a large tile wins once there are enough of them to fill the chip, a small one before that, and
// a deep tile waits less often.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tessera/kernel.h"

namespace tessera::cuda {

/// One kernel as the model sees it.
struct TileCost {
  int tile_m = 1, tile_n = 1, tile_k = 1;
  int blocks_per_sm = 1;     ///< that run at once
  double peak_fraction = 1;  ///< of the multiply-add peak, with every multiprocessor full
  double wait_us = 0.45;     ///< of a block alone, from asking for its next tiles to having them
};

/// Multiply-adds a multiprocessor starts in one cycle (CUDA Programming Guide, "Arithmetic
/// Instructions").
inline int multiply_adds_per_cycle(const DeviceInfo& device, DType dtype) {
  const int capability = device.compute_major * 10 + device.compute_minor;
  const bool data_centre = capability == 80 || capability == 90 || capability == 100;
  if (dtype == DType::kF64) return capability == 80 ? 32 : data_centre ? 64 : 2;
  return capability <= 80 ? 64 : 128;
}

inline double estimate_us(const Problem& p, const DeviceInfo& device, const TileCost& cost) {
  constexpr double kLaunchUs = 3, kCyclesPerUs = 1800;
  const auto ceil_div = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a / b + (a % b != 0));
  };
  const double tiles =
      ceil_div(p.m, cost.tile_m) * ceil_div(p.n, cost.tile_n) * static_cast<double>(p.batch);
  const double steps = ceil_div(p.k, cost.tile_k);
  const double per_sm = std::ceil(tiles / std::max(1, device.sm_count));
  const double rate = cost.peak_fraction * kCyclesPerUs * multiply_adds_per_cycle(device, p.dtype);
  const double step_us = static_cast<double>(cost.tile_m) * cost.tile_n * cost.tile_k / rate;
  const double rounds = std::ceil(per_sm / cost.blocks_per_sm);
  return kLaunchUs + steps * std::max(per_sm * (step_us + cost.wait_us / cost.blocks_per_sm),
                                      rounds * (step_us + cost.wait_us));
}

}  // namespace tessera::cuda
