// 64 KiB of dynamic shared memory, asked for before.
// check:
#include <cuda_runtime.h>
__global__ void fill(float* out) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) s[i] = float(i);
  __syncthreads();
  out[threadIdx.x] = s[16383 - threadIdx.x];
}
int main() {
  float* out;
  cudaMalloc(&out, 256 * sizeof(float));
  if (cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)) return 1;
  fill<<<1, 256, 65536>>>(out);
  if (cudaGetLastError() != cudaSuccess) return 1;
  float h[256];
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  return h[1] == 16382.0f ? 0 : 1;
}
