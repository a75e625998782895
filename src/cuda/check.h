// Every CUDA call goes through TESSERA_CUDA_CHECK; a failure becomes one tessera::Error.
#pragma once

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Throws Error naming the call, the current device and the error: kOutOfMemory, kNoDevice when the
/// device cannot be used at all, else kDeviceFailure. Clears the calling thread's last error, so
/// that an error reported here is not reported again by whoever looks next.
[[noreturn]] void fail(cudaError_t error, const char* call);

inline void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) fail(error, call);
}

}  // namespace tessera::cuda

#define TESSERA_CUDA_CHECK(call) ::tessera::cuda::check((call), #call)
