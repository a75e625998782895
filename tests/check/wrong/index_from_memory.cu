// The second launch has the same arguments, and another index in the memory that they point to.
#include <cuda_runtime.h>
__global__ void ones(float* out, const int* first) {
  out[*first + threadIdx.x] = 1;  // FAULT: global-out-of-bounds
}
int main() {
  float* out;
  int* first;
  cudaMalloc(&out, 128);
  cudaMalloc(&first, sizeof(int));
  for (int offset = 0; offset < 200; offset += 100) {
    cudaMemcpy(first, &offset, sizeof offset, cudaMemcpyHostToDevice);
    ones<<<1, 32>>>(out, first);
  }
  cudaDeviceSynchronize();
}
