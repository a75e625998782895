// The mask names lanes that take the other way and wait at the barrier.
// check: --gemm 1,16,16 --block 32 --grid 1
__global__ void dot(const float* A, const float* B, float* C, int M, int N, int K) {
  const int lane = threadIdx.x;
  float sum = 0;
  if (lane < 16) {
    for (int k = 0; k < 16; ++k) sum += A[k] * B[k * 16 + lane];
    sum += 0 * __shfl_down_sync(0xffffffffu, sum, 1);  // FAULT: deadlock
  }
  __syncthreads();
  if (lane < 16) C[lane] = sum;
}
