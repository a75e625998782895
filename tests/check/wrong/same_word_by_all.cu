// Every thread writes the same shared variable.
// check:
#include <cuda_runtime.h>
__global__ void last(int* out) {
  __shared__ int winner;
  winner = threadIdx.x;  // FAULT: shared-write-after-write
  __syncthreads();
  out[threadIdx.x] = winner;
}
int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  last<<<1, 64>>>(out);
  cudaDeviceSynchronize();
}
