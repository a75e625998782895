// A block adds up one element; the launch is derived.
// check: --gemm 10,9,300
__global__ void dot(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sums[256];
  int row = blockIdx.y, col = blockIdx.x, t = threadIdx.x;
  float sum = 0;
  for (int p = t; p < K; p += 256) sum += A[row * K + p] * B[p * N + col];
  sums[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) C[row * N + col] = sums[0];
}
