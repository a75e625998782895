// Lanes leave the loop, and the shuffle, after different numbers of steps.
// check: --gemm 10,12,50
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= M * N) return;
  int row = warp / N, col = warp % N;
  float sum = 0;
  for (int p = lane; p < K; p += 32) {
    float part = A[row * K + p] * B[p * N + col];
    for (int o = 16; o > 0; o /= 2) part += __shfl_xor_sync(0xffffffffu, part, o);  // ONLY FAULT: barrier-divergence ~ in 'for (int p = lane; p < K; p += 32)'
    sum += part;
  }
  if (lane == 0) C[row * N + col] = sum;  // FAULT: wrong-result ~ it comes with barrier-divergence at line 10
}
