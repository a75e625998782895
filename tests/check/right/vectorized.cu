// 16 bytes a load, for sizes that allow it.
// check: --gemm 128,64,32 --block 16,16 --grid N/64,M/64
#include <cuda_runtime.h>

__global__ void vectorized(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float4 s_a[16][16];  // [k][4 rows]
  __shared__ float4 s_b[16][16];  // [k][4 columns]
  const int t = threadIdx.y * 16 + threadIdx.x;
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float4 sum[4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    const float4 a = *reinterpret_cast<const float4*>(&A[(row0 + t / 4) * K + k0 + t % 4 * 4]);
    float* column = reinterpret_cast<float*>(&s_a[t % 4 * 4][0]) + t / 4;
    column[0] = a.x;
    column[64] = a.y;
    column[128] = a.z;
    column[192] = a.w;
    s_b[t / 16][t % 16] = *reinterpret_cast<const float4*>(&B[(k0 + t / 16) * N + col0 + t % 16 * 4]);
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      const float4 x = s_a[k][threadIdx.y], y = s_b[k][threadIdx.x];
      const float r[4] = {x.x, x.y, x.z, x.w};
      for (int i = 0; i < 4; ++i) {
        sum[i].x += r[i] * y.x;
        sum[i].y += r[i] * y.y;
        sum[i].z += r[i] * y.z;
        sum[i].w += r[i] * y.w;
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    float4* c = reinterpret_cast<float4*>(&C[(row0 + threadIdx.y * 4 + i) * N + col0]) + threadIdx.x;
    *c = sum[i];
  }
}
