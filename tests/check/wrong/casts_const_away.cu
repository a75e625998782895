// The input is const until the cast.
// check:
#include <cuda_runtime.h>
__global__ void clear(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
  const_cast<float*>(in)[threadIdx.x] = 0;  // FAULT: input-written
}
int main() {
  float h[32] = {}, *in, *out;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  clear<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
}
