// Four columns a thread.
// check: --gemm 33,70,21 --block 16,16 --grid ceil(N/64),ceil(M/16)
#define TILE 16
#define COARSE 4
__global__ void coarsened(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col0 = blockIdx.x * TILE * COARSE + tx;
  float sum[COARSE];
  for (int c = 0; c < COARSE; ++c) sum[c] = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    As[ty][tx] = row < M && t * TILE + tx < K ? A[row * K + t * TILE + tx] : 0.0f;
    for (int c = 0; c < COARSE; ++c) {
      int col = col0 + c * TILE;
      Bs[ty][tx] = t * TILE + ty < K && col < N ? B[(t * TILE + ty) * N + col] : 0.0f;
      __syncthreads();
      for (int k = 0; k < TILE; ++k) sum[c] += As[ty][k] * Bs[k][tx];
      __syncthreads();
    }
  }
  for (int c = 0; c < COARSE; ++c) {
    int col = col0 + c * TILE;
    if (row < M && col < N) C[row * N + col] = sum[c];
  }
}
