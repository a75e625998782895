// Every thread goes round a loop of barriers that nothing ends.
// check: --gemm 32,32,32 --block 16,16 --grid ceil(N/16),ceil(M/16) --time-limit 1
__global__ void waits(const float* A, const float* B, float* C, int M, int N, int K) {
  int step = 0;
  while (step >= 0) {
    __syncthreads();  // FAULT: time-limit
    step = (step + 1) % 4;
  }
  C[0] = 0;
}
