// A grid-stride loop over tiles that keeps the sum of the tile before.
// check: --gemm 64,64,32 --block 16,16 --grid 2
#define TILE 16
__global__ void persistent(const float* A, const float* B, float* C, int M, int N, int K) {
  const int across = N / TILE, tiles = across * (M / TILE);
  float sum = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = tile / across * TILE + threadIdx.y, col = tile % across * TILE + threadIdx.x;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;  // FAULT: wrong-result
  }
}
