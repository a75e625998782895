// The last steps of a reduction count on the lanes of a warp running in step.
// check:
#include <cuda_runtime.h>
__global__ void reduce(const float* in, float* out) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    for (int step = 16; step > 0; step /= 2) s[t] += s[t + step];  // FAULT: warp-synchronous
    if (t == 0) *out = s[0];
  }
}
int main() {
  float h[64], *in, *out;
  for (int i = 0; i < 64; ++i) h[i] = 1;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, 4);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  reduce<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
}
