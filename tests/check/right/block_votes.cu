// Barriers that count, and ballots.
// check:
#include <cuda_runtime.h>
__global__ void votes(int* out) {
  int odd = threadIdx.x & 1;
  int count = __syncthreads_count(odd);
  int all = __syncthreads_and(1), any = __syncthreads_or(threadIdx.x == 5);
  unsigned ballot = __ballot_sync(~0u, odd);
  int first = __any_sync(~0u, threadIdx.x == 0) ? 1 : 0;
  if (threadIdx.x == 0) out[0] = count, out[1] = all != 0, out[2] = any != 0, out[3] = __popc(ballot), out[4] = first;
}
int main() {
  int *out, h[5];
  cudaMalloc(&out, sizeof h);
  votes<<<1, 96>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] == 48 && h[1] == 1 && h[2] == 1 && h[3] == 16 && h[4] == 1 ? 0 : 1;
}
