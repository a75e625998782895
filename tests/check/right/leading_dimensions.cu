// Leading dimensions as arguments.
// check: --gemm 40,33,20
__global__ void sgemm(int m, int n, int k, float alpha, const float* A, int lda, const float* B,
                      int ldb, float beta, float* C, int ldc) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * lda + i] * B[i * ldb + col];
  C[row * ldc + col] = alpha * sum + (beta == 0 ? 0 : beta * C[row * ldc + col]);
}
