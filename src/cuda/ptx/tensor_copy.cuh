// cp.async.bulk.tensor: one thread has the copy engine fetch a box of a matrix.
//
// PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor". The matrix, its steps
// and the size of the box are in a tensor map that the host made. Elements of the box outside the
// matrix arrive as zeros. Compute capability 9.0 and newer; code for older devices does nothing and
// must not be run.
#pragma once

#include <cuda.h>

#include "cuda/ptx/mbarrier.cuh"

namespace tessera::cuda::ptx {

/// Brings the map nearer, so that the first copy need not wait for it.
__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap* map) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

/// Starts copying the box whose first element is (x, y, z), x being contiguous, to `to`, a multiple
/// of 128 bytes. All bytes of the box count towards the phase of `barrier`.
__device__ __forceinline__ void tensor_copy(SharedAddress to, const CUtensorMap* map, int x, int y,
                                            int z, SharedAddress barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
#endif
}

}  // namespace tessera::cuda::ptx
