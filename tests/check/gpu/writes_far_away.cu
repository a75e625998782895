// A lone kernel that the GPU stops: an address that belongs to nobody.
#include <cuda_runtime.h>

__global__ void naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[row * K + p] * B[p * N + col];
  C[row * N + col + (1LL << 40)] = sum;
}
