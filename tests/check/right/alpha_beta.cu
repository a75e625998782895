// C = alpha A B + beta C.
// check: --gemm 40,33,20
__global__ void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                      float* C) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[i * N + col];
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
