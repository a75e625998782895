// Column-major, and the load of B runs on into the next column where K ends.
// check: --layout col --gemm 80,64,75
constexpr int TILE = 16;
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x * TILE + tx, col = blockIdx.y * TILE + ty;
  float sum = 0;
  for (int t = 0; t < K; t += TILE) {
    As[ty][tx] = row < M && t + ty < K ? A[row + (t + ty) * M] : 0.0f;
    Bs[ty][tx] = t + tx + col * K < K * N ? B[t + tx + col * K] : 0.0f;  // FAULT: row-overrun ~ over the end of a column
    __syncthreads();
    for (int p = 0; p < TILE; ++p) sum += As[p][tx] * Bs[ty][p];
    __syncthreads();
  }
  if (row < M && col < N) C[row + col * M] = sum;
}
