// Half precision, and rows past M are not guarded.
// check: --gemm 33,32,32
#include <cuda_fp16.h>
#define TILE 16
__global__ void tiled(const half* A, const half* B, half* C, int M, int N, int K) {
  __shared__ half As[TILE][TILE];
  __shared__ half Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    As[ty][tx] = A[row * K + t * TILE + tx];  // FAULT: global-out-of-bounds
    Bs[ty][tx] = (t * TILE + ty < K && col < N) ? B[(t * TILE + ty) * N + col] : __float2half(0.0f);
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += __half2float(As[ty][k]) * __half2float(Bs[k][tx]);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = __float2half(sum);
}
