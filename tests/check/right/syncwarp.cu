// Each warp has a row of shared memory of its own, and orders itself.
// check: --gemm 17,32,32 --block 32,4 --grid 1,ceil(M/4)
__global__ void rows(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float row_of[4][32];
  const int lane = threadIdx.x, warp = threadIdx.y, row = blockIdx.y * 4 + warp;
  if (row >= M) return;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += 32) {
    row_of[warp][lane] = A[row * K + k0 + lane];
    __syncwarp();
    for (int k = 0; k < 32; ++k) sum += row_of[warp][k] * B[(k0 + k) * N + lane];
    __syncwarp();
  }
  C[row * N + lane] = sum;
}
