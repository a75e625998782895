// Right if its matrices are column-major, which nothing says.
// check: --gemm 40,33,20
__global__ void sgemm(int M, int N, int K, const float* A, const float* B, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[i + p * M] * B[p + j * K];
  C[i + j * M] = sum;  // FAULT: wrong-result ~ give --layout col
}
