// More __syncwarps between two barriers than a small counter holds.
// check:
#include <cuda_runtime.h>
__global__ void pass_on(int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  s[lane] = lane;
  for (int i = 0; i < 200; ++i) {
    __syncwarp();
    const int next = s[(lane + 1) % 32];
    __syncwarp();
    s[lane] = next;
  }
  __syncwarp();
  out[lane] = s[lane];
}
int main() {
  int *out, h[32];
  cudaMalloc(&out, sizeof h);
  pass_on<<<1, 32>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i)
    if (h[i] != (i + 200) % 32) return 1;
  return 0;
}
