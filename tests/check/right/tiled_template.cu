// The tile's width as a template parameter, and two functions of the device.
// check: --gemm 67,45,33 --kernel tiled<16>
template <typename T>
__device__ __forceinline__ T load(const T* __restrict__ p, int row, int col, int rows, int cols) {
  return row < rows && col < cols ? p[row * cols + col] : T(0);
}

template <int T>
__device__ float dot(const float (&a)[T][T], const float (&b)[T][T], int row, int col) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < T; ++k) sum += a[row][k] * b[k][col];
  return sum;
}

template <int T>
__global__ void __launch_bounds__(T* T)
    tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
          int N, int K) {
  __shared__ float s_a[T][T], s_b[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += T) {
    s_a[y][x] = load(A, row, k0 + x, M, K);
    s_b[y][x] = load(B, k0 + y, col, K, N);
    __syncthreads();
    sum += dot<T>(s_a, s_b, y, x);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
