// 64 x 64 threads a block, and 32 KiB of tiles: the threads are too many, not the memory.
// check:
#include <cuda_runtime.h>
#include <cstdio>
__global__ void big(float* out) {
  __shared__ float a[64][64], b[64][64];
  a[threadIdx.y][threadIdx.x] = b[threadIdx.y][threadIdx.x] = 0;
  out[0] = 0;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  big<<<1, dim3(64, 64)>>>(out);  // FAULT: launch-error ~ too many threads
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
