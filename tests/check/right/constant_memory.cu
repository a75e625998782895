// A small operand in constant memory, and a launch by address.
// check:
#include <cuda_runtime.h>
#include <cstdio>
#define N 16
__constant__ float c_b[N * N];

__global__ void matmul(const float* a, float* c) {
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += a[threadIdx.y * N + k] * c_b[k * N + threadIdx.x];
  c[threadIdx.y * N + threadIdx.x] = sum;
}

int main() {
  float a[N * N], b[N * N], c[N * N];
  for (int i = 0; i < N * N; ++i) a[i] = i % 3, b[i] = i % 4;
  float *d_a, *d_c;
  cudaMalloc((void**)&d_a, sizeof(a));
  cudaMalloc((void**)&d_c, sizeof(c));
  cudaMemcpy(d_a, a, sizeof(a), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(c_b, b, sizeof(b));
  void* arguments[] = {&d_a, &d_c};
  if (cudaLaunchKernel((void*)matmul, dim3(1), dim3(N, N), arguments, 0, 0) != cudaSuccess) return 1;
  cudaMemcpy(c, d_c, sizeof(c), cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      float want = 0;
      for (int k = 0; k < N; ++k) want += a[i * N + k] * b[k * N + j];
      if (want != c[i * N + j]) return 1;
    }
  cudaFree(d_a);
  cudaFree(d_c);
  std::puts("ok");
  return 0;
}
