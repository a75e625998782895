// The next tile is loaded into the buffer that is being read.
// check:
#include <cuda_runtime.h>

#define T 16
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[2][T][T + 1], Bs[2][T][T + 1];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
  int cur = 0;
  As[0][ty][tx] = row < M && tx < K ? A[row * K + tx] : 0;
  Bs[0][ty][tx] = ty < K && col < N ? B[ty * N + col] : 0;
  __syncthreads();
  for (int k0 = 0; k0 < K; k0 += T) {
    if (k0 + T < K) {
      int ka = k0 + T + tx, kb = k0 + T + ty;
      // The other buffer is meant.
      As[cur][ty][tx] = row < M && ka < K ? A[row * K + ka] : 0;  // FAULT: shared-read-after-write
      Bs[cur][ty][tx] = kb < K && col < N ? B[kb * N + col] : 0;
    }
    for (int k = 0; k < T; ++k) sum += As[cur][ty][k] * Bs[cur][k][tx];
    __syncthreads();
    cur ^= 1;
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
