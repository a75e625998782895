// FP64.
// check: --gemm 67,45,33
#define TILE 16
__global__ void tiled(const double* A, const double* B, double* C, int M, int N, int K) {
  __shared__ double As[TILE][TILE + 1];
  __shared__ double Bs[TILE][TILE + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  double sum = 0;
  for (int t = 0; t < K; t += TILE) {
    As[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0;
    Bs[ty][tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum = fma(As[ty][k], Bs[k][tx], sum);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
