// A thread may make so many accesses and no more, whatever barriers are between.
// check: --gemm 16,16,256 --block 16,16 --grid 1,1 --step-limit 500
__global__ void naive(const float* A, const float* B, float* C, int M, int N, int K) {
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[threadIdx.y * K + k] * B[k * N + threadIdx.x];  // FAULT: time-limit
    __syncthreads();
  }
  C[threadIdx.y * N + threadIdx.x] = sum;
}
