// Rows of A are taken N apart.
// check: --gemm 50,45,33
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[row * N + p] * B[p * N + col];  // ONLY FAULT: global-out-of-bounds ~ mend the index of A first
  C[row * N + col] = sum;  // FAULT: wrong-result ~ the leading dimension of A is K, not N
}
