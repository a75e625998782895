// Pieces along K, added by atomics to a C that was set to zero.
// check:
#include <cuda_runtime.h>
__global__ void split(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  const int piece = K / gridDim.z;
  float sum = 0;
  for (int k = blockIdx.z * piece; k < (blockIdx.z + 1) * piece; ++k) sum += A[row * K + k] * B[k * N + col];
  atomicAdd(&C[row * N + col], sum);
}
int main() {
  const int n = 32;
  float *a, *b, *c;
  cudaMallocManaged(&a, n * n * 4);
  cudaMallocManaged(&b, n * n * 4);
  cudaMalloc(&c, n * n * 4);
  for (int i = 0; i < n * n; ++i) a[i] = i % 5 - 2, b[i] = i % 3 - 1;
  cudaMemset(c, 0, n * n * 4);
  split<<<dim3(2, 2, 4), dim3(16, 16)>>>(a, b, c, n, n, n);
  float h[n * n];
  cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost);
  float want = 0;
  for (int k = 0; k < n; ++k) want += a[n + k] * b[k * n + 2];
  return h[n + 2] == want ? 0 : 1;
}
