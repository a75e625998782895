// A is M x N and B is N x K here, and B is read transposed.
// check: --gemm 40,30,50
__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= K) return;
  float sum = 0;
  for (int i = 0; i < N; ++i) sum += A[row * N + i] * B[col * N + i];
  C[row * K + col] = sum;  // FAULT: wrong-result ~ index B with [p * K + col]
}
extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  multiply<<<dim3((K + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
