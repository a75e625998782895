// Blocks and tiles of cooperative groups.
// check: --gemm 19,16,70 --block 32,4 --grid N,ceil(M/4)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void dot(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float column[128];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int row = blockIdx.y * 4 + warp.meta_group_rank(), col = blockIdx.x;
  for (int k = block.thread_rank(); k < K; k += block.size()) column[k] = B[k * N + col];
  block.sync();
  float sum = 0;
  if (row < M) {
    for (int k = warp.thread_rank(); k < K; k += warp.size()) sum += A[row * K + k] * column[k];
  }
  for (int step = warp.size() / 2; step > 0; step /= 2) sum += warp.shfl_down(sum, step);
  if (warp.thread_rank() == 0 && row < M) C[row * N + col] = sum;
}
