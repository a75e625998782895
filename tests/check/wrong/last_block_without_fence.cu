// The block that arrives last reads what the others wrote, without a fence before the counter.
// check:
#include <cuda_runtime.h>
__device__ unsigned arrived = 0;
__global__ void pieces(float* part, float* out) {
  __shared__ bool is_last;
  part[blockIdx.x * 32 + threadIdx.x] = float(blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += part[b * 32 + threadIdx.x];  // FAULT: cross-block-race
  out[threadIdx.x] = sum;
}
int main() {
  float *part, *out;
  cudaMalloc(&part, 4 * 32 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  pieces<<<4, 32>>>(part, out);
  cudaDeviceSynchronize();
}
