// The numbers of blocks are given as rows, columns; the kernel has its columns in x.
// check: --gemm 96,40,24 --block 8,8 --grid ceil(M/8),ceil(N/8)
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[row * K + p] * B[p * N + col];
  C[row * N + col] = sum;  // FAULT: never-written ~ rows 40 to 95; exchange the two
}
