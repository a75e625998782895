// An allocation that was forgotten.
// check:
#include <cuda_runtime.h>
__global__ void fill(float* out) { out[threadIdx.x] = 1; }  // FAULT: global-out-of-bounds
int main() {
  float* out = nullptr;
  fill<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}
