// The kernel is given memory of the host.
// check:
#include <cuda_runtime.h>
__global__ void twice(const float* in, float* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }  // FAULT: global-out-of-bounds ~ host
int main() {
  static float h[32];
  float* in = new float[32]();
  float* out;
  cudaMalloc(&out, sizeof h);
  twice<<<1, 32>>>(in, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  delete[] in;
}
