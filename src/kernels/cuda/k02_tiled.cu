// k02_tiled: the threads of a block share what they load.
//
// Idea: a block of T x T threads walks k in steps of T. In each it loads a T x T tile of A and one
// of B into shared memory, one element of each a thread, and every thread takes T multiply-adds
// from them.
// New since k01: each element is requested from global memory T times less often.
// Expected bottleneck: two shared-memory reads for every multiply-add.
// Limits: none; an edge tile is filled with zeros by each operand's own bounds, and every thread
// stays to the last barrier.
#include "cuda/describe.h"
#include "cuda/launch.cuh"

namespace tessera {
namespace {

using namespace cuda;

struct Config {
  int tile;
  std::string to_string() const { return "t" + std::to_string(tile); }
};

/// T x T threads a block: at least one warp, at most the 1024 that a block may have.
constexpr bool is_legal(Config c) {
  const int threads = c.tile * c.tile;
  return c.tile >= 1 && threads % 32 == 0 && threads <= 1024;
}

template <class T, int kTile>
__global__ void __launch_bounds__(kTile* kTile) tiled(const GemmArgs<T> x) {
  static_assert(is_legal({kTile}));
  // Padding spreads a transposed operand, which is stored down a column, over the banks. A's rows
  // stay multiples of 16 bytes, because the compiler reads several p of one row at a time.
  constexpr int kVector = 16 / sizeof(T);
  __shared__ alignas(16) T s_a[kTile][kTile + kVector];  // [line of A][p]
  __shared__ T s_b[kTile][kTile + 1];                    // [p][line of B]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const Panel<T> a = x.a.batch_member(blockIdx.z), b = x.b.batch_member(blockIdx.z);
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * kTile;

  // tx walks whichever index is contiguous in memory, so that a warp's loads coalesce.
  const int a_line = a.depth_is_contiguous() ? ty : tx, a_p = a.depth_is_contiguous() ? tx : ty;
  const int b_line = b.depth_is_contiguous() ? ty : tx, b_p = b.depth_is_contiguous() ? tx : ty;

  T sum = 0;
  for (std::int64_t p0 = 0; p0 < x.k; p0 += kTile) {
    s_a[a_line][a_p] = a.load_or_zero(first_row + a_line, p0 + a_p);
    s_b[b_p][b_line] = b.load_or_zero(first_col + b_line, p0 + b_p);
    __syncthreads();  // the tiles are complete before anyone reads them
#pragma unroll
    for (int p = 0; p < kTile; ++p) sum += s_a[ty][p] * s_b[p][tx];
    __syncthreads();  // everyone has read them before they are overwritten
  }
  store_result(x, blockIdx.z, first_row + ty, first_col + tx, sum);
}

template <class T, int kTile>
void add(Registry& registry, double peak_fraction) {
  const TileCost cost{kTile, kTile, kTile, 2048 / (kTile * kTile), peak_fraction};
  Kernel kernel =
      describe_kernel("k02_tiled", "tiled", DTypeOf<T>::value, Config{kTile}.to_string(),
                      "tiles in shared memory, one element per thread", cost);
  kernel.why = "a block requests each element once instead of once a thread";
  kernel.launch = [](const Problem& p, const Operands& x, const LaunchContext& context) {
    launch_gemm(tiled<T, kTile>, p, x, kTile, kTile, dim3(kTile, kTile), context.stream);
  };
  registry.add(std::move(kernel));
}

template <class T>
void add_all(Registry& registry) {
  add<T, 8>(registry, 0.16);
  add<T, 16>(registry, 0.23);
  add<T, 32>(registry, 0.19);
}

}  // namespace

void register_k02_tiled(Registry& registry);
void register_k02_tiled(Registry& registry) {
  add_all<float>(registry);
  add_all<double>(registry);
}

}  // namespace tessera
