// Where there is no element the tile keeps what it holds, which in the first step is nothing.
// check: --gemm 20,20,20 --block 16,16 --grid ceil(N/16),ceil(M/16)
#define TILE 16
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    s_a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : s_a[ty][tx];  // FAULT: uninitialised-shared
    __syncthreads();
    for (int k = 0; k < TILE && k0 + k < K; ++k) sum += s_a[ty][k] * (col < N ? B[(k0 + k) * N + col] : 0.0f);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
