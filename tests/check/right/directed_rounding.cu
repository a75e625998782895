// Sums and products with a rounding of their own; down and up enclose the nearest.
// check: --gemm 40,33,20
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float down = 0, up = 0, zero = 0;
  double fused = 0;
  for (int p = 0; p < K; ++p) {
    const float a = A[row * K + p], b = B[p * N + col];
    down = __fadd_rd(down, __fmul_rd(a, b));
    up = __fmaf_ru(a, b, up);
    zero = __fadd_rz(zero, __fmul_rz(a, b));
    fused = __fma_rd(a, b, fused);
  }
  const bool encloses = down <= fused && fused <= up;
  C[row * N + col] = encloses ? __fmul_rn(0.5f, __fadd_rn(zero, (float)fused)) : 0.0f;
}
