// The loop that loads B ends half-way: the lower rows of its tile are never written.
// check:
#include <cuda_runtime.h>

#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
__global__ __launch_bounds__(256) void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[BK][BM + 4], Bs[BK][BN];
  int t = threadIdx.x, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, tr = t / 16 * TM, tc = t % 16 * TN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = t; i < BM * BK; i += 256) {
      int m = i / BK, p = i % BK;
      As[p][m] = m0 + m < M && k0 + p < K ? A[(m0 + m) * K + k0 + p] : 0;
    }
    for (int i = t; i < BN * BK / 2; i += 256) {
      int p = i / BN, n = i % BN;
      Bs[p][n] = n0 + n < N && k0 + p < K ? B[(k0 + p) * N + n0 + n] : 0;
    }
    __syncthreads();
    for (int p = 0; p < BK; ++p) {
      float4 a = *(float4*)&As[p][tr];
      float4 b = *(float4*)&Bs[p][tc];  // FAULT: uninitialised-shared
      float ra[4] = {a.x, a.y, a.z, a.w}, rb[4] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j)
    if (m0 + tr + i < M && n0 + tc + j < N) C[(m0 + tr + i) * N + n0 + tc + j] = acc[i][j];
}
