// Two buffers, filled ahead, with the barrier before the store only: the next step reads at once.
// check: --gemm 32,32,64
#define TILE 16
__global__ void double_buffered(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[2][TILE][TILE];
  __shared__ float Bs[2][TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < K / TILE; ++t) {
    const int now = t & 1, k = t * TILE;
    __syncthreads();
    As[now][ty][tx] = A[row * K + k + tx];
    Bs[now][ty][tx] = B[(k + ty) * N + col];
    for (int i = 0; i < TILE; ++i) sum += As[now][ty][i] * Bs[now][i][tx];  // FAULT: shared-read-after-write
  }
  C[row * N + col] = sum;
}
