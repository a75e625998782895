// A loop whose counter never moves.
// check: --step-limit 2000000
#include <cuda_runtime.h>
#include <cstdio>
__global__ void endless(float* out) {
  float sum = 0;
  for (int k = 0; k < 16; k += threadIdx.x) sum += out[0] = 1;  // FAULT: time-limit
  out[threadIdx.x] = sum;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  endless<<<1, 32>>>(out);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
