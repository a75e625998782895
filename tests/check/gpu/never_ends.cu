// A lone kernel that hangs wherever it runs.
#include <cuda_runtime.h>

__global__ void naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  volatile float* waits = C;
  while (waits[row * N + col] == waits[row * N + col] || K > 0) waits[row * N + col] = A[row * K];
}
