// A program that runs one of Tessera's own plain kernels, in the executor or on a GPU, over the
// shapes that its tile makes interesting, in all ops, with padded rows, scalars and a batch.
//
//   tessera check plain_kernels.cu -- -I src -I include -DKERNEL=k02_tiled
//
// Exits with 1 when a product is wrong.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#define NAME_OF(x) #x
#define FILE_OF(x) NAME_OF(kernels/cuda/x.cu)
#include FILE_OF(KERNEL)

#include "tessera/error.h"

namespace tessera {

// What the library has besides: the executor needs the kernel alone.
void Registry::add(Kernel kernel) {
  kernel.name = kernel.id.family + "." + kernel.id.config;
  kernels_.push_back(std::make_shared<const Kernel>(std::move(kernel)));
}

namespace cuda {
void fail(cudaError_t error, const char* call) {
  throw Error(ErrorCode::kDeviceFailure, std::string(call) + ": " + cudaGetErrorString(error));
}
}  // namespace cuda
}  // namespace tessera
