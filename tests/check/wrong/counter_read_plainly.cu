// A counter that atomics move is read without one.
// check:
#include <cuda_runtime.h>
__global__ void count(int* counter, int* out) {
  atomicAdd(counter, 1);
  out[threadIdx.x] = *counter;  // FAULT: global-race
}
int main() {
  int *counter, *out;
  cudaMalloc(&counter, 4);
  cudaMalloc(&out, 256);
  cudaMemset(counter, 0, 4);
  count<<<1, 64>>>(counter, out);
  cudaDeviceSynchronize();
}
