// A warp adds up one element; the launch is derived.
// check: --gemm 21,17,50
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= M * N) return;
  int row = warp / N, col = warp % N;
  float sum = 0;
  for (int p = lane; p < K; p += 32) sum += A[row * K + p] * B[p * N + col];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) C[row * N + col] = sum;
}
