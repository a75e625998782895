// The same with the instructions themselves; lanes past the edge copy zeros.
// check: --gemm 40,24,20
#define TILE 8

__device__ inline void copy4(float* to, const float* from, bool present) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  int bytes = present ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(address), "l"(from), "r"(bytes));
}

__global__ void cp_async(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[TILE][TILE];
  __shared__ float s_b[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    bool in_a = row < M && k0 + x < K, in_b = k0 + y < K && col < N;
    copy4(&s_a[y][x], in_a ? &A[row * K + k0 + x] : A, in_a);
    copy4(&s_b[y][x], in_b ? &B[(k0 + y) * N + col] : B, in_b);
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += s_a[y][k] * s_b[k][x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
