// What the copy engine needs to know of a matrix to fetch boxes of it.
#pragma once

#include <cuda.h>

#include "cuda/gemm_args.cuh"

namespace tessera::cuda {

/// Can boxes of this panel be fetched where it lies? Its lines must be side by side, every p and
/// batch member at a multiple of 16 bytes (`alignment` is what pointer and strides divide by).
/// CUDA Driver API, cuTensorMapEncodeTiled.
bool has_tensor_map(const Panel<float>& x, std::int64_t batch, int alignment);

/// A map of boxes of box_lines lines, box_depth deep: coordinates are line, p, batch member.
/// Elements past the lines, the depth and the batch are zeros. Throws Error(kDeviceFailure).
CUtensorMap tensor_map_of(const Panel<float>& x, std::int64_t batch, int box_lines, int box_depth);

}  // namespace tessera::cuda
