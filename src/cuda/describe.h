// What the CUDA kernels say of themselves in the same words.
#pragma once

#include <string>

#include "cuda/estimate.h"
#include "tessera/kernel.h"

namespace tessera::cuda {

/// A Kernel that takes every problem, without its launch function.
inline Kernel describe_kernel(const char* stem, const char* family, DType dtype,
                              const std::string& config, const char* summary, TileCost cost) {
  Kernel kernel;
  kernel.id = {"cuda", family, dtype, config};
  kernel.stem = stem;
  kernel.summary = summary;
  kernel.arch = "any CUDA GPU that the build has code for";
  kernel.limits = "none";
  kernel.tile_m = cost.tile_m;
  kernel.tile_n = cost.tile_n;
  kernel.tile_k = cost.tile_k;
  kernel.alignment_bytes = static_cast<int>(size_of(dtype));
  kernel.can_implement = [](const Problem&, const DeviceInfo&) {
    return std::optional<Rejection>{};
  };
  kernel.estimate_us = [cost](const Problem& p, const DeviceInfo& device) {
    return estimate_us(p, device, cost);
  };
  return kernel;
}

}  // namespace tessera::cuda
