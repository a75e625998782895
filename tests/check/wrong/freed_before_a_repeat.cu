// A launch like the one before, but its memory has been freed in between.
#include <cuda_runtime.h>
__global__ void ones(float* out) {
  out[threadIdx.x] = 1;  // FAULT: global-out-of-bounds ~ given back
}
int main() {
  float* out;
  cudaMalloc(&out, 128);
  ones<<<1, 32>>>(out);
  cudaFree(out);
  ones<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}
