// Whether to cut a product's last tiles along k, and how long it will take: from shape and device.
//
// A multiprocessor with w warps resident reaches the part w / (w + 1.6) of what it reaches with
// many: few warps leave the multipliers waiting for operands and barriers. Whole tiles run in waves
// of as many as fit; the last wave, seldom full, runs with fewer warps. Cutting it up instead keeps
// every multiprocessor full, but writes and reads each piece's sums once more.
#pragma once

#include <cstdint>

#include "cuda/estimate.h"
#include "cuda/tile_schedule.h"
#include "tessera/kernel.h"

namespace tessera::cuda {

/// A kernel as the plan sees it.
struct TileKernel {
  int tile_m, tile_n, tile_k;
  int warps;                  ///< of a block
  int blocks_per_sm;          ///< that run at once
  double peak_fraction;       ///< of the multiply-add peak, with many warps resident
  bool joins_pieces = false;  ///< by its last block for a tile, without a second kernel

  double tile_bytes() const { return 4.0 * tile_m * tile_n; }
};

struct TilePlan {
  TileSchedule schedule;
  double us = 0;
};

namespace detail {

/// Time of the parts of a product on one device. It only has to order candidates.
class TileTimes {
 public:
  TileTimes(const TileKernel& kernel, const DeviceInfo& device, DType dtype)
      : kernel_(kernel),
        sm_count_(std::max(1, device.sm_count)),
        rate_(kCyclesPerUs * multiply_adds_per_cycle(device, dtype) * kernel.peak_fraction) {}

  double whole_us(std::int64_t tiles, std::int64_t steps) const {
    const std::int64_t wave = std::int64_t{sm_count_} * kernel_.blocks_per_sm;
    const std::int64_t rest = (tiles % wave + sm_count_ - 1) / sm_count_;  // on the fullest one
    return static_cast<double>(tiles / wave) * tiles_us(kernel_.blocks_per_sm, steps) +
           (rest == 0 ? 0 : tiles_us(static_cast<int>(rest), steps));
  }

  /// What TileSchedule cuts: computed, written, read and added.
  double cut_us(const TileSchedule& cut) const {
    const std::int64_t resident = (cut.pieces() + sm_count_ - 1) / sm_count_;
    return static_cast<double>(cut.share) * step_us(static_cast<int>(resident)) + join_us(cut);
  }

 private:
  static constexpr double kCyclesPerUs = 1980;

  double join_us(const TileSchedule& cut) const {
    if (kernel_.joins_pieces) {  // one block adds a tile's pieces, one after the other
      constexpr double kCountUs = 5.5, kSlotUs = 0.15, kSlotBytesPerUs = 50e3;
      const double pieces = static_cast<double>(cut.steps) / static_cast<double>(cut.share) + 1;
      return kCountUs + pieces * (kSlotUs + kernel_.tile_bytes() / kSlotBytesPerUs);
    }
    constexpr double kSecondKernelUs = 4, kBytesPerUs = 3e6;
    return kSecondKernelUs +
           2 * static_cast<double>(cut.slots()) * kernel_.tile_bytes() / kBytesPerUs;
  }

  /// One step of each of `resident` blocks of one multiprocessor.
  double step_us(int resident) const {
    const double warps = resident * kernel_.warps;
    return resident * (1.0 * kernel_.tile_m * kernel_.tile_n * kernel_.tile_k) * (warps + 1.6) /
           (rate_ * warps);
  }

  /// `resident` blocks from their first copy to their last store; while one stores, others
  /// multiply.
  double tiles_us(int resident, std::int64_t steps) const {
    constexpr double kStartUs = 1, kStoreBytesPerUs = 32e3;
    return static_cast<double>(steps) * step_us(resident) + kStartUs +
           kernel_.tile_bytes() / kStoreBytesPerUs;
  }

  const TileKernel& kernel_;
  int sm_count_;
  double rate_;  // multiply-adds of one multiprocessor in a microsecond
};

}  // namespace detail

/// The faster of whole tiles alone and whole tiles with the last ones cut.
inline TilePlan plan_tiles(const Problem& p, const DeviceInfo& device, const TileKernel& kernel) {
  constexpr double kLaunchUs = 2;
  constexpr std::int64_t kLeastDepth = 128;  // of a piece: less is not worth its start
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); };
  const detail::TileTimes times(kernel, device, p.dtype);

  TileSchedule whole;
  whole.tiles_m = ceil_div(p.m, kernel.tile_m);
  whole.tiles_n = ceil_div(p.n, kernel.tile_n);
  whole.batch = p.batch;
  whole.steps = ceil_div(p.k, kernel.tile_k);
  whole.whole = whole.tiles();
  const double whole_us = times.whole_us(whole.whole, whole.steps);

  const std::int64_t wave = std::int64_t{std::max(1, device.sm_count)} * kernel.blocks_per_sm;
  TileSchedule cut = whole;
  cut.whole = whole.whole / wave * wave;
  // Pieces that are longer than a tile join few others, which have mostly been stored for long when
  // they end: so one wave of whole tiles is cut along with the rest.
  if (kernel.joins_pieces && cut.rest() > 0)
    cut.whole = std::max(cut.whole - wave, std::int64_t{0});
  cut.share =
      std::max(ceil_div(cut.rest() * cut.steps, wave), ceil_div(kLeastDepth, kernel.tile_k));
  const bool is_cut = cut.rest() > 0 && (cut.share < cut.steps || cut.rest() > wave);
  if (!is_cut) return {whole, kLaunchUs + whole_us};
  const double cut_us = times.whole_us(cut.whole, cut.steps) + times.cut_us(cut);
  return cut_us < whole_us ? TilePlan{cut, kLaunchUs + cut_us}
                           : TilePlan{whole, kLaunchUs + whole_us};
}

}  // namespace tessera::cuda
