// A block that is no multiple of a warp.
// check: --gemm 21,14,10 --block 7,7 --grid ceil(N/7),ceil(M/7)
constexpr int T = 7;
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
  for (int t = 0; t < K; t += T) {
    As[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0;
    Bs[ty][tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
