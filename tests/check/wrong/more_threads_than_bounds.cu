// The kernel is compiled for at most 128 threads.
// check:
#include <cuda_runtime.h>
#include <cstdio>
__global__ void __launch_bounds__(128) bounded(float* out) {
  out[threadIdx.x] = 0;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  bounded<<<1, 256>>>(out);  // FAULT: launch-error ~ __launch_bounds__
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
