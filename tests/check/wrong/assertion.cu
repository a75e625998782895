// An assertion that the last block's threads fail.
// check:
#include <cassert>
__global__ void fill(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);  // FAULT: crash ~ fails the assertion 'i < n'
  p[i] = 1;
}
int main() {
  float* p;
  cudaMalloc(&p, 100 * sizeof(float));
  fill<<<4, 32>>>(p, 100);
  return cudaDeviceSynchronize();
}
