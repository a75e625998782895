// Four columns of B at once, where rows of B are no multiple of four long.
// check: --block 16,16 --grid ceil(N/64),ceil(M/16)
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = (blockIdx.x * 16 + threadIdx.x) * 4;
  if (row >= M || col >= N) return;
  float sum[4] = {0, 0, 0, 0};
  for (int p = 0; p < K; ++p) {
    const float a = A[row * K + p];
    const float4 b = *reinterpret_cast<const float4*>(&B[p * N + col]);  // ONLY FAULT: misaligned-access
    sum[0] += a * b.x;
    sum[1] += a * b.y;
    sum[2] += a * b.z;
    sum[3] += a * b.w;
  }
  for (int j = 0; j < 4 && col + j < N; ++j) C[row * N + col + j] = sum[j];
}
