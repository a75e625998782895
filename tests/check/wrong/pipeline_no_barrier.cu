// Waiting for one's own copies says nothing of the others'.
// check: --gemm 64,64,64 --block 16,16 --grid N/16,M/16
#include <cuda_pipeline.h>

constexpr int T = 16;

__global__ void pipelined(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[2][T][T];
  __shared__ float s_b[2][T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  const auto copy = [&](int step) {
    __pipeline_memcpy_async(&s_a[step & 1][y][x], &A[row * K + step * T + x], 4);
    __pipeline_memcpy_async(&s_b[step & 1][y][x], &B[(step * T + y) * N + col], 4);
  };
  copy(0);
  __pipeline_commit();
  float sum = 0;
  for (int step = 0; step < K / T; ++step) {
    if (step + 1 < K / T) copy(step + 1);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    for (int k = 0; k < T; ++k) sum += s_a[step & 1][y][k] * s_b[step & 1][k][x];  // FAULT: shared-read-after-write
    __syncthreads();
  }
  C[row * N + col] = sum;
}
