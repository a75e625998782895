// Column-major matrices with leading dimensions, as BLAS has them.
// check: --layout col
__global__ void sgemm(int m, int n, int k, float alpha, const float* A, int lda, const float* B,
                      int ldb, float beta, float* C, int ldc) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += A[i + p * lda] * B[p + j * ldb];
  C[i + j * ldc] = alpha * sum + beta * C[i + j * ldc];
}
