// n / 4 blocks for n = 3.
// check:
#include <cuda_runtime.h>
#include <cstdio>
__global__ void few(float* out) {
  out[threadIdx.x] = 0;
}
int main() {
  float* out;
  cudaMalloc(&out, 1 << 20);
  int n = 3;
  few<<<n / 4, 4>>>(out);  // FAULT: launch-error ~ empty
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
