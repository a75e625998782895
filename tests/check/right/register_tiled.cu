// 128 x 128 x 8, 256 threads, 8 x 8 results a thread, 16 apart so that stores coalesce.
// check: --gemm 150,139,35 --block 256 --grid ceil(N/128),ceil(M/128)
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;

__global__ void __launch_bounds__(256)
    register_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[BM][BK];
  __shared__ float s_b[BK][BN];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) {
      const int row = blockIdx.y * BM + i / BK, k = k0 + i % BK;
      s_a[i / BK][i % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += 256) {
      const int k = k0 + i / BN, col = blockIdx.x * BN + i % BN;
      s_b[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
      for (int i = 0; i < TM; ++i) a[i] = s_a[ty + 16 * i][k];
      for (int j = 0; j < TN; ++j) b[j] = s_b[k][tx + 16 * j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) {
      const int row = blockIdx.y * BM + ty + 16 * i, col = blockIdx.x * BN + tx + 16 * j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}
