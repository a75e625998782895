// griddepcontrol: a kernel that is launched before the one in front of it has ended.
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: griddepcontrol". Compute
// capability 9.0 and newer; on older devices kernels do not overlap, and there is nothing to do.
#pragma once

#include <cuda_runtime.h>

namespace tessera::cuda::ptx {

/// Once all blocks have come here or ended, blocks of the next kernel may start where there is
/// room.
__device__ __forceinline__ void let_next_grid_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Returns once the kernel in front has ended and what it wrote is visible.
__device__ __forceinline__ void wait_for_grid_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace tessera::cuda::ptx
