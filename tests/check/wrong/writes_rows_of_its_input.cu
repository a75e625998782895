// Every thread of a row writes to A, which others read.
// check: --gemm 50,45,33
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[row * K + p] * B[p * N + col];
  const_cast<float*>(A)[row * K] = sum;  // ONLY FAULT: input-written
  C[row * N + col] = sum;
}
