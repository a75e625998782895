// 64 KiB of dynamic shared memory without the attribute.
// check:
#include <cuda_runtime.h>
#include <cstdio>
__global__ void over(float* out) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  over<<<1, 32, 65536>>>(out);  // FAULT: launch-error ~ too much shared memory
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
