// Threads beyond the tile's width compute its columns again and store them too.
// check: --gemm 16,16,16 --block 32,16 --grid 1
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = threadIdx.y, col = threadIdx.x % 16;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;  // FAULT: global-race
}
