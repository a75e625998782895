// The kernel is a call of a device function that holds the tile.
// check: --gemm 67,45,33
template <int TILE>
__device__ void multiply(const float* left, const float* right, float* result, int rows, int columns,
                         int depth) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < depth; first += TILE) {
    const int across = first + threadIdx.x, down = first + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = row < rows && across < depth ? left[row * depth + across] : 0;
    b[threadIdx.y][threadIdx.x] = down < depth && col < columns ? right[down * columns + col] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && col < columns) result[row * columns + col] = sum;
}
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  multiply<8>(A, B, C, M, N, K);
}
