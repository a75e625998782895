// Two launches that differ in a structure alone, memory that the host changes between two, and a
// product of elements that is no matrix product.
// check:
#include <cuda_runtime.h>
struct Part {
  float* to;
  int first;
};
__global__ void fill(Part part) { part.to[part.first + threadIdx.x] = 1; }
__global__ void twice(const int* in, int* out) { *out = 2 * *in; }
__global__ void elementwise_mul(const float* A, const float* B, float* C, int N) {
  const int i = threadIdx.y * N + threadIdx.x;
  C[i] = A[i] * B[i];
}
int main() {
  float *p, *c, h[64];
  cudaMalloc(&p, sizeof h);
  cudaMalloc(&c, sizeof h);
  fill<<<1, 32>>>(Part{p, 0});
  fill<<<1, 32>>>(Part{p, 32});
  elementwise_mul<<<1, dim3(8, 8)>>>(p, p, c, 8);
  cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost);
  for (float x : h)
    if (x != 1) return 1;
  int* m;
  cudaMallocManaged(&m, 2 * sizeof(int));
  for (int i = 3; i < 5; ++i) {
    m[0] = i;
    twice<<<1, 1>>>(m, m + 1);
    cudaDeviceSynchronize();
    if (m[1] != 2 * i) return 1;
  }
  return 0;
}
