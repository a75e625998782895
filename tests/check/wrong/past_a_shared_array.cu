// A pointer into a shared array runs past its end.
// check:
#include <cuda_runtime.h>
__global__ void shift(float* out) {
  __shared__ float s[64];
  float* p = s;
  p[threadIdx.x] = float(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = p[threadIdx.x + 1];  // FAULT: shared-out-of-bounds
}
int main() {
  float* out;
  cudaMalloc(&out, 256);
  shift<<<1, 64>>>(out);
  cudaDeviceSynchronize();
}
