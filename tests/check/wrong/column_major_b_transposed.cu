// Column-major, and B is indexed as if it were row-major.
// check: --layout col --gemm 40,33,20
__global__ void sgemm(int M, int N, int K, const float* A, const float* B, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[i + p * M] * B[p * N + j];
  C[i + j * M] = sum;  // FAULT: wrong-result ~ B is read transposed
}
