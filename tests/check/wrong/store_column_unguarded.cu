// Columns past N are stored into the next row, which another block writes too.
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0;
  for (int p = 0; p < K && col < N; ++p) sum += A[row * K + p] * B[p * N + col];
  C[row * N + col] = sum;  // FAULT: row-overrun ~ past the end of the row
}
