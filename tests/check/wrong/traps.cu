// One column of blocks traps; the others are right, and nothing else is said of the trap's threads.
// check: --gemm 48,48,48 --block 16,16 --grid ceil(N/16),ceil(M/16)
__global__ void traps(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sums[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  sums[threadIdx.y][threadIdx.x] = 0;
  __syncthreads();
  if (blockIdx.x == 1) __trap();  // FAULT: crash
  __syncthreads();
  for (int k = 0; k < K && row < M && col < N; ++k)
    sums[threadIdx.y][threadIdx.x] += A[row * K + k] * B[k * N + col];
  if (row < M && col < N) C[row * N + col] = sums[threadIdx.y][threadIdx.x];
}
