// 48 of 64 threads load, and the barrier was dropped with the threads.
// check: --gemm 16,4,16 --block 64 --grid 1
__global__ void loaders(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_b[64];
  const int t = threadIdx.x;
  if (t < 48) {
    s_b[t] = B[t];
    if (t < 16) s_b[48 + t] = B[48 + t];
  }
  const int row = t / 4, col = t % 4;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += A[row * 16 + k] * s_b[k * 4 + col];  // FAULT: shared-read-after-write
  C[row * 4 + col] = sum;
}
