// Threads go round a loop with a barrier different numbers of times.
// check: --gemm 16,16,16 --block 16,16 --grid 1
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s[16];
  const int row = threadIdx.y, col = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  for (int i = 0; i < 1 + (row > 7); ++i) {
    if (row == 0) s[col] = sum;
    __syncthreads();  // FAULT: barrier-divergence ~ in 'for (int i = 0; i < 1 + (row > 7); ++i)'
  }
  C[row * N + col] = sum;
}
