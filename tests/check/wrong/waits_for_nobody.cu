// A thread waits for a flag that nobody sets.
// check: --step-limit 2000000
#include <cuda_runtime.h>
#include <cstdio>
__global__ void waits(float* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  while (flag == 0) {  // FAULT: time-limit
  }
  out[threadIdx.x] = 1;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  waits<<<1, 32>>>(out);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
