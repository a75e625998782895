// A loop without an end that touches no memory, in blocks that any worker may run.
// check: --gemm 64,64,64 --block 16,16 --grid ceil(N/16),ceil(M/16) --time-limit 1
__global__ void spin(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  int left = blockIdx.x + blockIdx.y * gridDim.x < 7 ? 0 : 1;
  while (left != 0) left = left * 3 | 1;  // FAULT: time-limit
  if (row < M && col < N) C[row * N + col] = left;
}
