// k01_naive: one thread, one element of C.
//
// Idea: a block of 16 x 16 threads covers a 16 x 16 tile of C; each thread sums its dot product of
// length k straight from global memory.
// Expected bottleneck: every multiply-add costs two loads, so the load units and the first-level
// cache are busy long before the multipliers. A warp spans two rows of C: it shares its loads of
// A, and those of B are contiguous unless B is transposed, when each lane walks a row of its own.
// Limits: none.
#include "cuda/describe.h"
#include "cuda/launch.cuh"

namespace tessera {
namespace {

using namespace cuda;

struct Config {
  int tile;  // rows and columns of C a block
};
constexpr Config kConfig{16};

template <class T>
__global__ void __launch_bounds__(kConfig.tile* kConfig.tile) naive(const GemmArgs<T> x) {
  const std::int64_t row = std::int64_t{blockIdx.y} * kConfig.tile + threadIdx.y;
  const std::int64_t col = std::int64_t{blockIdx.x} * kConfig.tile + threadIdx.x;
  if (row >= x.m || col >= x.n) return;
  const T* g_a = x.a.batch_member(blockIdx.z).at(row, 0);
  const T* g_b = x.b.batch_member(blockIdx.z).at(col, 0);
  T sum = 0;
  for (std::int64_t p = 0; p < x.k; ++p) {
    sum += g_a[p * x.a.depth_step] * g_b[p * x.b.depth_step];
  }
  store_result(x, blockIdx.z, row, col, sum);
}

template <class T>
void add(Registry& registry) {
  constexpr int kTile = kConfig.tile;
  // Eight loads of each operand are in flight at once; eight such blocks fit a multiprocessor.
  const TileCost cost{kTile, kTile, 8, 8, 0.165};
  Kernel kernel = describe_kernel("k01_naive", "naive", DTypeOf<T>::value, "",
                                  "one thread per element, straight from global memory", cost);
  kernel.why = "two loads for every multiply-add: where the ladder starts";
  kernel.launch = [](const Problem& p, const Operands& x, const LaunchContext& context) {
    launch_gemm(naive<T>, p, x, kTile, kTile, dim3(kTile, kTile), context.stream);
  };
  registry.add(std::move(kernel));
}

}  // namespace

void register_k01_naive(Registry& registry);
void register_k01_naive(Registry& registry) {
  add<float>(registry);
  add<double>(registry);
}

}  // namespace tessera
