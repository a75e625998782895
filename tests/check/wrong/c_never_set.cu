// beta = 1, and C was never given a value.
// check:
#include <cuda_runtime.h>
__global__ void add(const float* A, const float* B, float* C, int n) {
  const int row = threadIdx.y, col = threadIdx.x;
  float sum = C[row * n + col];  // FAULT: uninitialised-global
  for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
  C[row * n + col] = sum;
}
int main() {
  const int n = 8;
  float h[n * n] = {}, *a, *b, *c;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMalloc(&c, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
  add<<<1, dim3(n, n)>>>(a, b, c, n);
  cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost);
}
