// A program whose grid is rounded down: what it copies back was never written.
// check:
#include <cuda_runtime.h>
__global__ void twice(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
int main() {
  const int n = 1000;
  float h[n] = {}, *in, *out;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  twice<<<n / 256, 256>>>(in, out, n);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);  // FAULT: never-written
}
