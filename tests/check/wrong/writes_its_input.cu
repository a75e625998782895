// A row of A is scaled in place.
// check: --gemm 20,20,20
__global__ void matmul(float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
  if (row == 19 && col == 19) A[row * K] = 0;  // FAULT: input-written
}
