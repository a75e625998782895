// One warp waits for another's flag, which atomics publish.
// check:
#include <cuda_runtime.h>
__global__ void hand_over(int* out) {
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    out[0] = 1;
  }
  if (threadIdx.x == 32) atomicExch(&ready, 1);
}
int main() {
  int *out, h = 0;
  cudaMalloc(&out, 4);
  hand_over<<<1, 64>>>(out);
  cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost);
  return h == 1 ? 0 : 1;
}
