// cp.async: a copy from global to shared memory that needs no register and does not wait.
//
// PTX ISA, "Data Movement and Conversion Instructions: cp.async". sm_80 and newer; older devices
// copy at once, so that the same kernel is right there too.
#pragma once

#include <cuda_runtime.h>

namespace tessera::cuda::ptx {

/// Starts copying kBytes (4, 8 or 16) to s_to, which with g_from is a multiple of kBytes. Without
/// `present` zeros are written and g_from is not read. Copies of 16 bytes bypass L1.
template <int kBytes>
__device__ __forceinline__ void cp_async(void* s_to, const void* g_from, bool present = true) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(s_to));
  const int source_bytes = present ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(g_from),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(g_from),
                 "n"(kBytes), "r"(source_bytes)
                 : "memory");
  }
#else
  struct alignas(kBytes) Chunk {
    float words[kBytes / 4];
  };
  *static_cast<Chunk*>(s_to) = present ? *static_cast<const Chunk*>(g_from) : Chunk{};
#endif
}

/// Closes the group of this thread's copies started since the last commit; it may be empty.
__device__ __forceinline__ void cp_async_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most kPending of this thread's latest groups are unfinished. What other threads
/// copied is visible only after a barrier as well.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace tessera::cuda::ptx
