// A copy by cp.async that is waited for, but in no group: the wait passes over it.
// check:
#include <cuda_runtime.h>
__global__ void copy(const float* in, float* out) {
  __shared__ float s[32];
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.wait_group 0;\n" ::);
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];  // ONLY FAULT: copy-in-flight ~ no commit stands between
}
int main() {
  float h[32] = {}, *in, *out;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  copy<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
}
