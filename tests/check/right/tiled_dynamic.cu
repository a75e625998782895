// Both tiles in dynamic shared memory.
// check: --gemm 67,45,33 --block 16,16 --grid ceil(N/16),ceil(M/16) --shared 2048
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  extern __shared__ float tiles[];
  const int T = blockDim.x;
  float* As = tiles;
  float* Bs = tiles + T * T;
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0.0f;
  for (int t = 0; t < K; t += T) {
    As[ty * T + tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
    Bs[ty * T + tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += As[ty * T + k] * Bs[k * T + tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
