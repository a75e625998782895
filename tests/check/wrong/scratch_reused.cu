// The scratch of a block-wide sum is used again without a barrier between.
// check:
#include <cuda_runtime.h>
__device__ float block_sum(float x) {
  __shared__ float s[8];
  for (int step = 16; step > 0; step >>= 1) x += __shfl_xor_sync(~0u, x, step);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;  // FAULT: shared-write-after-read
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += s[i];
  return sum;
}
__global__ void sums(const float* in, float* out) {
  float first = block_sum(in[threadIdx.x]);
  float second = block_sum(in[threadIdx.x] * 2);
  if (threadIdx.x == 0) out[0] = first, out[1] = second;
}
int main() {
  float h[256] = {}, *in, *out;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, 8);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  sums<<<1, 256>>>(in, out);
  cudaDeviceSynchronize();
}
