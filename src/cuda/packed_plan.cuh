// What a product that may pack its operands needs: which of them, where the copies go, how long.
#pragma once

#include "cuda/pack.cuh"
#include "cuda/plan_tiles.h"
#include "cuda/tensor_map.h"

namespace tessera::cuda {

/// One operand: as it is given, and as the tensor copies read it.
struct PackedPanel {
  Panel<float> given;
  std::int64_t batch = 1;  ///< members that differ
  bool is_copied = false;
  std::size_t offset = 0;  ///< of the copy in the workspace

  std::int64_t pitch() const { return packed_pitch(given.lines); }
  std::size_t copy_bytes() const {
    if (!is_copied) return 0;
    return static_cast<std::size_t>(pitch() * given.depth * batch) * sizeof(float);
  }
  PackJob job(void* workspace) const {
    return {given, is_copied ? batch : 0, copy_in(workspace), pitch()};
  }
  Panel<float> panel(void* workspace) const {
    if (!is_copied) return given;
    Panel<float> copy = given;
    copy.g = copy_in(workspace);
    copy.line_step = 1;
    copy.depth_step = pitch();
    copy.batch_stride = batch == 1 ? 0 : pitch() * given.depth;
    return copy;
  }

 private:
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
  constexpr double kPackUs = 3.5, kPackBytesPerUs = 3.9e6;
  const GemmArgs<float> args = args_of<float>(p, x, {0, 0, 0, p.m, p.n, {}});
  PackedPlan plan;
  plan.tiles = plan_tiles(p, device, kernel);
  const auto reserve = [&plan](std::size_t bytes) {
    const std::size_t offset = plan.bytes;
    plan.bytes += (bytes + 255) / 256 * 256;
    return offset;
  };
  const auto place = [&](const Panel<float>& given, int alignment) {
    PackedPanel panel;
    panel.given = given;
    panel.batch = p.batch == 1 || given.batch_stride == 0 ? 1 : p.batch;
    panel.is_copied = !has_tensor_map(given, panel.batch, alignment);
    panel.offset = reserve(panel.copy_bytes());
    return panel;
  };
  plan.a = place(args.a, p.align_a);
  plan.b = place(args.b, p.align_b);
  const std::size_t copies = plan.a.copy_bytes() + plan.b.copy_bytes();
  const TileSchedule& schedule = plan.tiles.schedule;
  plan.partials = reserve(static_cast<std::size_t>(schedule.slots()) *
                          static_cast<std::size_t>(kernel.tile_bytes()));
  plan.arrivals = reserve(static_cast<std::size_t>(schedule.rest()) * sizeof(unsigned));
  plan.us = plan.tiles.us;
  if (copies > 0) plan.us += kPackUs + 2 * static_cast<double>(copies) / kPackBytesPerUs;
  return plan;
}

}  // namespace tessera::cuda
