// The launch asks for shared memory for one tile, the kernel uses two.
// check: --gemm 32,32,32 --block 16,16 --grid N/16,M/16 --shared 1024
#define TILE 16
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  extern __shared__ float tiles[];
  float* As = tiles;
  float* Bs = tiles + TILE * TILE;
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < K; t += TILE) {
    As[ty * TILE + tx] = A[row * K + t + tx];
    Bs[ty * TILE + tx] = B[(t + ty) * N + col];  // FAULT: shared-out-of-bounds
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[ty * TILE + k] * Bs[k * TILE + tx];
    __syncthreads();
  }
  C[row * N + col] = sum;
}
