// k03_register_tiled: every value read from shared memory is used several times.
//
// Idea: a block computes BM x BN elements of C, a thread TM x TN of them, kept in registers. For
// each p a thread reads TM values of A and TN of B from shared memory and adds their outer product.
// New since k02: TM * TN multiply-adds for TM + TN shared reads, instead of one for two.
// Threads form a grid of BM/TM x BN/TN, and a thread's results lie that far apart, so that
// neighbouring lanes read neighbouring values and store neighbouring results.
// Expected bottleneck: shared-memory reads (32 bits wide) take as long as the multiply-adds, and
// nothing is computed while a block waits for its tiles; a second block per multiprocessor helps.
// Limits: none.
#include "cuda/describe.h"
#include "cuda/launch.cuh"
#include "cuda/tile_loader.cuh"

namespace tessera {
namespace {

using namespace cuda;
using Config = RegisterConfig;

template <class T, int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(Config{BM, BN, BK, TM, TN}.threads(),
                                  blocks_per_sm(Config{BM, BN, BK, TM, TN}, sizeof(T)))
    register_tiled(const GemmArgs<T> x) {
  constexpr Config kConfig{BM, BN, BK, TM, TN};
  static_assert(broken_rule(kConfig, sizeof(T)) == nullptr);
  using LoaderA = TileLoader<T, BM, BK, kConfig.threads()>;
  using LoaderB = TileLoader<T, BN, BK, kConfig.threads()>;
  __shared__ T s_a[BK * LoaderA::kPitch];
  __shared__ T s_b[BK * LoaderB::kPitch];
  constexpr int kRowStep = kConfig.thread_rows(), kColStep = kConfig.thread_cols();

  const int thread = threadIdx.x;
  const int tx = thread % kColStep, ty = thread / kColStep;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * BM;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * BN;
  LoaderA load_a(x.a.batch_member(blockIdx.z), first_row, thread);
  LoaderB load_b(x.b.batch_member(blockIdx.z), first_col, thread);

  T r_c[TM][TN] = {};
  for (std::int64_t p0 = 0; p0 < x.k; p0 += BK) {
    load_a.fetch();
    load_b.fetch();
    __syncthreads();  // everyone has read the last tiles before they are overwritten
    load_a.store(s_a);
    load_b.store(s_b);
    __syncthreads();  // the tiles are complete before anyone reads them
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      T r_a[TM], r_b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) r_a[i] = s_a[p * LoaderA::kPitch + ty + i * kRowStep];
#pragma unroll
      for (int j = 0; j < TN; ++j) r_b[j] = s_b[p * LoaderB::kPitch + tx + j * kColStep];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) r_c[i][j] += r_a[i] * r_b[j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    store_results(x, blockIdx.z, first_row + ty + i * kRowStep, first_col + tx, kColStep, r_c[i]);
  }
}

template <class T, int BM, int BN, int BK, int TM, int TN>
void add(Registry& registry) {
  constexpr Config kConfig{BM, BN, BK, TM, TN};
  constexpr int kThreads = kConfig.threads();
  const TileCost cost{BM, BN, BK, blocks_per_sm(kConfig, sizeof(T)), peak_fraction(kConfig)};
  Kernel kernel = describe_kernel("k03_register_tiled", "register_tiled", DTypeOf<T>::value,
                                  kConfig.to_string(),
                                  "tiles in shared memory, an outer product in registers", cost);
  kernel.why = "a value read from shared memory is used several times";
  kernel.launch = [](const Problem& p, const Operands& x, const LaunchContext& context) {
    launch_gemm(register_tiled<T, BM, BN, BK, TM, TN>, p, x, BM, BN, dim3(kThreads),
                context.stream);
  };
  registry.add(std::move(kernel));
}

}  // namespace

void register_k03_register_tiled(Registry& registry);
void register_k03_register_tiled(Registry& registry) {
  add<float, 128, 128, 8, 8, 8>(registry);
  add<float, 128, 128, 16, 8, 8>(registry);
  add<float, 128, 64, 8, 8, 4>(registry);
  add<float, 64, 64, 16, 4, 4>(registry);
  add<float, 32, 32, 32, 2, 2>(registry);
  add<double, 128, 64, 8, 8, 4>(registry);
  add<double, 64, 64, 16, 4, 4>(registry);
  add<double, 32, 32, 16, 2, 2>(registry);
}

}  // namespace tessera
