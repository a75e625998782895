// The output was given back before the launch.
// check:
#include <cuda_runtime.h>
__global__ void fill(float* out) { out[threadIdx.x] = 1; }  // FAULT: global-out-of-bounds ~ cudaFree
int main() {
  float* out;
  cudaMalloc(&out, 128);
  cudaFree(out);
  fill<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}
