// A block of one line of threads whose rows come from blockIdx.x; elements by another name.
// check: --gemm 67,45,33
typedef float real;
template <int TILE = 16>
__global__ void product(const real* A, const real* B, real* C, int M, int N, int K) {
  const int row = blockIdx.x * TILE + threadIdx.x / TILE;
  const int col = blockIdx.y * TILE + threadIdx.x % TILE;
  if (row >= M || col >= N) return;
  real sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
