// A tiled kernel on column-major matrices; its rows come from blockIdx.x.
// check: --layout col
constexpr int TILE = 16;
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x * TILE + tx, col = blockIdx.y * TILE + ty;
  float sum = 0;
  for (int t = 0; t < K; t += TILE) {
    As[ty][tx] = row < M && t + ty < K ? A[row + (t + ty) * M] : 0.0f;
    Bs[ty][tx] = col < N && t + tx < K ? B[t + tx + col * K] : 0.0f;
    __syncthreads();
    for (int p = 0; p < TILE; ++p) sum += As[p][tx] * Bs[ty][p];
    __syncthreads();
  }
  if (row < M && col < N) C[row + col * M] = sum;
}
