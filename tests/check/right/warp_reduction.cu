// One warp, one element: the lanes share the dot product and shuffle it together.
// check: --gemm 19,13,70 --block 32,4 --grid N,ceil(M/4)
__global__ void dot(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x;
  float sum = 0;
  if (row < M) {
    for (int k = threadIdx.x; k < K; k += 32) sum += A[row * K + k] * B[k * N + col];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0 && row < M) C[row * N + col] = sum;
}
