// Pieces along K, added to C by blocks that may run at once.
// check:
#include <cuda_runtime.h>
__global__ void split(const float* A, const float* B, float* C, int n) {
  const int row = threadIdx.y, col = threadIdx.x, piece = n / gridDim.z;
  float sum = 0;
  for (int k = blockIdx.z * piece; k < (blockIdx.z + 1) * piece; ++k) sum += A[row * n + k] * B[k * n + col];
  C[row * n + col] += sum;  // FAULT: cross-block-race
}
int main() {
  const int n = 16;
  float h[n * n], *a, *b, *c;
  for (int i = 0; i < n * n; ++i) h[i] = i % 3;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMalloc(&c, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(c, 0, sizeof h);
  split<<<dim3(1, 1, 4), dim3(n, n)>>>(a, b, c, n);
  cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost);
}
