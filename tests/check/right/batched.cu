// A batch along z, and pointers that the kernel moves.
// check:
#include <cuda_runtime.h>
#include <vector>
__global__ void batched(const float* a, const float* b, float* c, int m, int n, int k) {
  a += blockIdx.z * m * k;
  b += blockIdx.z * k * n;
  c += blockIdx.z * m * n;
  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
int main() {
  const int m = 9, n = 10, k = 11, batch = 3;
  std::vector<float> a(m * k * batch, 1.0f), b(k * n * batch, 2.0f), c(m * n * batch);
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, a.size() * 4);
  cudaMalloc(&d_b, b.size() * 4);
  cudaMalloc(&d_c, c.size() * 4);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(d_a, a.data(), a.size() * 4, cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(d_b, b.data(), b.size() * 4, cudaMemcpyHostToDevice, stream);
  dim3 grid((n + 7) / 8, (m + 7) / 8, batch);
  batched<<<grid, dim3(8, 8), 0, stream>>>(d_a, d_b, d_c, m, n, k);
  cudaMemcpyAsync(c.data(), d_c, c.size() * 4, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  for (float x : c)
    if (x != 22.0f) return 1;
  return 0;
}
