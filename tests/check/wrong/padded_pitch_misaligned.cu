// Rows of 129 floats: free of conflicts, but no longer aligned for 16 bytes.
// check:
#include <cuda_runtime.h>
__global__ void rows(float* out) {
  __shared__ __align__(16) float s[8][129];
  for (int i = threadIdx.x; i < 8 * 129; i += 32) s[i / 129][i % 129] = float(i);
  __syncthreads();
  const float4 v = *reinterpret_cast<const float4*>(&s[threadIdx.x / 4][threadIdx.x % 4 * 4]);  // FAULT: misaligned-access ~ mod 16
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
int main() {
  float* out;
  cudaMalloc(&out, 128);
  rows<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}
