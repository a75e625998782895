// Two buffers, one barrier a step: it stands between the store of the next tile and its use.
// check: --gemm 67,45,70
#define TILE 16
__global__ void double_buffered(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[2][TILE][TILE];
  __shared__ float Bs[2][TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  const int steps = (K + TILE - 1) / TILE;
  As[0][ty][tx] = row < M && tx < K ? A[row * K + tx] : 0.0f;
  Bs[0][ty][tx] = ty < K && col < N ? B[ty * N + col] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int t = 0; t < steps; ++t) {
    const int now = t & 1, next = now ^ 1;
    const int k = (t + 1) * TILE;
    if (t + 1 < steps) {
      As[next][ty][tx] = row < M && k + tx < K ? A[row * K + k + tx] : 0.0f;
      Bs[next][ty][tx] = k + ty < K && col < N ? B[(k + ty) * N + col] : 0.0f;
    }
    for (int i = 0; i < TILE; ++i) sum += As[now][ty][i] * Bs[now][i][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
