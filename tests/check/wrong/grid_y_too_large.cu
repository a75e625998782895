// Rows in grid.y: 1,048,561 rows of 16 need one block too many.
// check:
#include <cuda_runtime.h>
#include <cstdio>
__global__ void rows(float* out) {
  if (blockIdx.y == 0) out[threadIdx.x] = 0;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  rows<<<dim3(1, (1048561 + 15) / 16), 16>>>(out);  // FAULT: launch-error ~ 65535
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
