// mbarrier: a barrier in shared memory that counts arrivals and bytes of copies, and can be waited
// for at any later time.
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". Whoever waits names
// the parity of the phase that must have ended: a barrier's first phase has parity 0. Compute
// capability 9.0 and newer; code for older devices does nothing and must not be run.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda::ptx {

/// A place in shared memory as these instructions take it: 32 bits, where a pointer has 64.
using SharedAddress = std::uint32_t;

__device__ __forceinline__ SharedAddress shared_address(const void* s_pointer) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(s_pointer));
}

/// Orders this thread's reads and writes of shared memory before writes of the copy engine that
/// follow a barrier. PTX ISA, "membar / fence: fence.proxy.async".
__device__ __forceinline__ void fence_before_async_writes() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// A phase ends after `arrivals` arrivals and the bytes that they announced.
__device__ __forceinline__ void mbarrier_init(SharedAddress barrier, unsigned arrivals) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#endif
}

/// Makes this thread's initialisations visible to the copy engine; other threads need a barrier.
__device__ __forceinline__ void mbarrier_init_fence() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ void mbarrier_arrive(SharedAddress barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

/// Arrives and announces `bytes` that copies will bring before the phase can end.
__device__ __forceinline__ void mbarrier_arrive_expect(SharedAddress barrier, unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
#endif
}

/// Returns once the phase of this parity has ended; what was written before it is then visible.
__device__ __forceinline__ void mbarrier_wait(SharedAddress barrier, unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra.uni again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#endif
}

}  // namespace tessera::cuda::ptx
