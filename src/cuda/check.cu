#include "cuda/check.h"

#include <string>

#include "tessera/error.h"

namespace tessera::cuda {
namespace {

ErrorCode code_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return ErrorCode::kOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return ErrorCode::kNoDevice;
    default:
      return ErrorCode::kDeviceFailure;
  }
}

/// "cuda:0", or "no device" when there is none to ask.
std::string device_name() {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) return "no device";
  return "cuda:" + std::to_string(device);
}

}  // namespace

void fail(cudaError_t error, const char* call) {
  const std::string text = call;
  const std::string function = text.substr(0, text.find('('));
  std::string message = "cuda: " + function + " failed on " + device_name() + ": " +
                        cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  if (error == cudaErrorNoKernelImageForDevice) {
    message +=
        "; this build has no code for that device: add its compute capability to "
        "TESSERA_CUDA_ARCHITECTURES";
  }
  cudaGetLastError();
  throw Error(code_of(error), message);
}

}  // namespace tessera::cuda
