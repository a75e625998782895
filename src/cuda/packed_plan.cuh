// What a product that may pack its operands needs: which of them, where the copies go, how long.
#pragma once

#include "cuda/pack.cuh"
#include "cuda/plan_tiles.h"
#include "cuda/tensor_map.h"
#include "cuda/turned_panel.cuh"

namespace tessera::cuda {

/// The same elements with lines and p exchanged.
inline Panel<float> turned(Panel<float> x) {
  std::swap(x.lines, x.depth);
  std::swap(x.line_step, x.depth_step);
  return x;
}

enum class PanelForm {
  kAsItLies,  ///< lines side by side
  kTurned,    ///< contiguous along k, each stage turned after it was fetched
  kCopied,    ///< before the product, lines side by side
};

/// One operand: as it is given, and as the tensor copies read it.
struct PackedPanel {
  Panel<float> given;
  std::int64_t batch = 1;  ///< members that differ
  PanelForm form = PanelForm::kAsItLies;
  std::size_t offset = 0;  ///< of the copy in the workspace

  bool is_turned() const { return form == PanelForm::kTurned; }
  bool is_copied() const { return form == PanelForm::kCopied; }
  std::int64_t pitch() const { return packed_pitch(given.lines); }
  std::size_t copy_bytes() const {
    if (!is_copied()) return 0;
    return static_cast<std::size_t>(pitch() * given.depth * batch) * sizeof(float);
  }
  PackJob job(void* workspace) const {
    return {given, is_copied() ? batch : 0, copy_in(workspace), pitch()};
  }
  CUtensorMap map(void* workspace, int lines, int depth) const {
    if (is_turned()) return tensor_map_of(turned(given), batch, kBoxDepth, lines);
    return tensor_map_of(panel(workspace), batch, lines, depth);
  }

 private:
  Panel<float> panel(void* workspace) const {
    if (!is_copied()) return given;
    Panel<float> copy = given;
    copy.g = copy_in(workspace);
    copy.line_step = 1;
    copy.depth_step = pitch();
    copy.batch_stride = batch == 1 ? 0 : pitch() * given.depth;
    return copy;
  }
  float* copy_in(void* workspace) const {
    return reinterpret_cast<float*>(static_cast<char*>(workspace) + offset);
  }
};

/// Copies, partial sums and counts of arrived pieces, each from a multiple of 256 bytes on.
struct PackedPlan {
  TilePlan tiles;
  PackedPanel a, b;
  std::size_t partials = 0, arrivals = 0, bytes = 0;  ///< offsets in the workspace, and its size
  double us = 0;
};

inline PackedPlan plan_packed(const Problem& p, const Operands& x, const DeviceInfo& device,
                              const TileKernel& kernel) {
  constexpr double kPackUs = 0.4, kPackBytesPerUs = 3.9e6;
  constexpr double kTurnInstructions = 57;  // that a block of eight p of 32 lines is worth
  const GemmArgs<float> args = args_of<float>(p, x, {0, 0, 0, p.m, p.n, {}});
  PackedPlan plan;
  plan.tiles = plan_tiles(p, device, kernel);
  const auto reserve = [&plan](std::size_t bytes) {
    const std::size_t offset = plan.bytes;
    plan.bytes += (bytes + 255) / 256 * 256;
    return offset;
  };
  plan.us = plan.tiles.us;
  // Of an operand; a turned block serves as many columns of multiply-adds as the other is wide.
  const auto place = [&](const Panel<float>& given, int alignment, int others) {
    PackedPanel panel;
    panel.given = given;
    panel.batch = p.batch == 1 || given.batch_stride == 0 ? 1 : p.batch;
    if (has_tensor_map(given, panel.batch, alignment)) return panel;
    panel.form = PanelForm::kCopied;
    const double copy_us = kPackUs + 2 * static_cast<double>(panel.copy_bytes()) / kPackBytesPerUs;
    const double turn_us = plan.tiles.us * kTurnInstructions / (kBoxDepth * others);
    if (turn_us < copy_us && has_tensor_map(turned(given), panel.batch, alignment)) {
      panel.form = PanelForm::kTurned;
    }
    plan.us += panel.is_turned() ? turn_us : copy_us;
    panel.offset = reserve(panel.copy_bytes());
    return panel;
  };
  plan.a = place(args.a, p.align_a, kernel.tile_n);
  plan.b = place(args.b, p.align_b, kernel.tile_m);
  const TileSchedule& schedule = plan.tiles.schedule;
  plan.partials = reserve(static_cast<std::size_t>(schedule.slots()) *
                          static_cast<std::size_t>(kernel.tile_bytes()));
  plan.arrivals = reserve(static_cast<std::size_t>(schedule.rest()) * sizeof(unsigned));
  return plan;
}

}  // namespace tessera::cuda
