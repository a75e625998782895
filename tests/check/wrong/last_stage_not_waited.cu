// The last step waits as if another were on its way.
// check:
#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#define T 16
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[2][T][T], Bs[2][T][T];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  int steps = (K + T - 1) / T;
  float sum = 0;
  auto load = [&](int s, int t) {
    int ka = t * T + tx, kb = t * T + ty;
    if (row < M && ka < K) __pipeline_memcpy_async(&As[s][ty][tx], &A[row * K + ka], 4); else As[s][ty][tx] = 0;
    if (col < N && kb < K) __pipeline_memcpy_async(&Bs[s][ty][tx], &B[kb * N + col], 4); else Bs[s][ty][tx] = 0;
    __pipeline_commit();
  };
  load(0, 0);
  for (int t = 0; t < steps; ++t) {
    if (t + 1 < steps) { load((t + 1) & 1, t + 1); __pipeline_wait_prior(1); } else __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = 0; k < T; ++k)
      sum += As[t & 1][ty][k] * Bs[t & 1][k][tx];  // FAULT: copy-in-flight
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
