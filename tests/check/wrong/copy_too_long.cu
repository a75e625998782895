// Bytes for elements: the copy back is four times as long as the output.
// check:
#include <cuda_runtime.h>
__global__ void fill(float* out) { out[threadIdx.x] = 1; }
int main() {
  float h[128], *out;
  cudaMalloc(&out, 32 * sizeof(float));
  fill<<<1, 32>>>(out);
  cudaMemcpy(h, out, 128 * sizeof(float), cudaMemcpyDeviceToHost);  // FAULT: global-out-of-bounds
}
