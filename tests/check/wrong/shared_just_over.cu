// 48 KiB of dynamic shared memory are allowed, and one static word more is not.
// check:
#include <cuda_runtime.h>
#include <cstdio>
__global__ void over(float* out) {
  extern __shared__ float s[];
  __shared__ int extra;
  if (threadIdx.x == 0) extra = 1;
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + extra;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  over<<<1, 32, 49152>>>(out);  // FAULT: launch-error ~ too much shared memory
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
