// The stage of the next step is read.
// check:
#include <cuda_pipeline.h>
#define T 16
__global__ void pipelined(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[3][T][T], Bs[3][T][T];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * T + y, col = blockIdx.x * T + x, steps = (K + T - 1) / T;
  auto copy = [&](int t) {
    int s = t % 3, ka = t * T + x, kb = t * T + y;
    As[s][y][x] = Bs[s][y][x] = 0;
    if (row < M && ka < K) __pipeline_memcpy_async(&As[s][y][x], &A[row * K + ka], 4);
    if (col < N && kb < K) __pipeline_memcpy_async(&Bs[s][y][x], &B[kb * N + col], 4);
  };
  for (int t = 0; t < 2; ++t) {
    if (t < steps) copy(t);
    __pipeline_commit();
  }
  float sum = 0;
  for (int t = 0; t < steps; ++t) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (t + 2 < steps) copy(t + 2);
    __pipeline_commit();
    for (int k = 0; k < T; ++k) {
      float a = As[(t + 1) % 3][y][k];  // ONLY FAULT: copy-in-flight ~ use the stage that was waited for
      sum += a * Bs[(t + 1) % 3][k][x];  // FAULT: copy-in-flight ~ use the stage that was waited for
    }
  }
  if (row < M && col < N) C[row * N + col] = sum;  // FAULT: wrong-result ~ it comes with copy-in-flight on As
}
