// A few blocks walk over all tiles.
// check: --gemm 67,45,33 --block 16,16 --grid 3
#define TILE 16
__global__ void persistent(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int across = (N + TILE - 1) / TILE, tiles = across * ((M + TILE - 1) / TILE);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = tile / across * TILE + ty, col = tile % across * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
      As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
      Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
      __syncthreads();
      for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
      __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
  }
}
