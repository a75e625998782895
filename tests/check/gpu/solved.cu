// Tessera exercise: tiled matrix product
//
// C = A * B; A is M x K, B is K x N, C is M x N, all row-major. Each block of kTile x kTile threads
// computes one tile of C, one element a thread. Fill in the four blanks between their marker lines,
// leave the marker lines as they are, and run
//
//   tessera check tiled.cu
//
// README.md explains the kernel.
#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[kTile][kTile];
  __shared__ float s_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int t = 0; t < (K + kTile - 1) / kTile; ++t) {
    // >>> blank 1
    /* BLANK 1: load. Store one element of A to s_a[ty][tx] and one of B to s_b[ty][tx]. In step t
       the tiles start at column t * kTile of A and at row t * kTile of B. Outside of its matrix,
       each of the two is 0. */
    const int a_col = t * kTile + tx, b_row = t * kTile + ty;
    s_a[ty][tx] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;
    s_b[ty][tx] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;
    // <<< blank 1

    // >>> blank 2
    /* BLANK 2: barrier. Every element of the tiles is stored before any thread reads one. */
    __syncthreads();
    // <<< blank 2

    // >>> blank 3
    /* BLANK 3: accumulate. Add to sum the kTile products of row ty of s_a and column tx of s_b. */
    for (int p = 0; p < kTile; ++p) sum += s_a[ty][p] * s_b[p][tx];
    // <<< blank 3

    // >>> blank 4
    /* BLANK 4: barrier. Every thread is done reading before any thread stores the next tiles. */
    __syncthreads();
    // <<< blank 4
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  const dim3 block(kTile, kTile);
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  tiled<<<grid, block>>>(A, B, C, M, N, K);
}
