// k04_vectorized: every access is 16 bytes wide.
//
// Idea: what k03 does, with a quarter of the instructions for it. Results lie in groups of 4 x 4
// (2 x 2 for 8-byte elements), so that a group's rows of A, its columns of B and each of its rows
// of C are 16 bytes side by side.
// New since k03: 128-bit loads from global memory along whichever index is contiguous there, a
// transposing store where that is k, 128-bit reads from shared memory, 128-bit stores of C. Rows of
// shared tiles are padded by 16 bytes, which keeps all of it free of bank conflicts.
// Expected bottleneck: nothing is computed while a block waits for its tiles.
// Limits: the wide configurations need A and B aligned to 16 bytes; the narrow ones take the rest,
// one element a load, and differ in nothing else.
#include "cuda/alignment_rule.h"
#include "cuda/describe.h"
#include "cuda/launch.cuh"
#include "cuda/thread_tile.cuh"
#include "cuda/vector_loader.cuh"

namespace tessera {
namespace {

using namespace cuda;
using Config = VectorConfig;

template <class T, class C>
__global__ void __launch_bounds__(C::kValue.threads(), blocks_per_sm(C::kValue, sizeof(T)))
    vectorized(const GemmArgs<T> x) {
  constexpr Config kConfig = C::kValue;
  static_assert(broken_rule(kConfig, sizeof(T)) == nullptr);
  constexpr int BM = kConfig.BM, BN = kConfig.BN, BK = kConfig.BK;
  using LoaderA = VectorLoader<T, BM, BK, kConfig.threads(), kConfig.vector>;
  using LoaderB = VectorLoader<T, BN, BK, kConfig.threads(), kConfig.vector>;
  alignas(16) __shared__ T s_a[BK * LoaderA::kPitch];
  alignas(16) __shared__ T s_b[BK * LoaderB::kPitch];

  const int thread = threadIdx.x;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * BM;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * BN;
  LoaderA load_a(x.a.batch_member(blockIdx.z), first_row, thread);
  LoaderB load_b(x.b.batch_member(blockIdx.z), first_col, thread);
  ThreadTile<T, kConfig> results(thread);

  for (std::int64_t p0 = 0; p0 < x.k; p0 += BK) {
    load_a.fetch();
    load_b.fetch();
    __syncthreads();  // everyone has read the last tiles before they are overwritten
    load_a.store(s_a);
    load_b.store(s_b);
    __syncthreads();  // the tiles are complete before anyone reads them
    results.multiply(s_a, s_b);
  }
  results.store(x, blockIdx.z, first_row, first_col);
}

template <class T, class C>
void add(Registry& registry) {
  constexpr Config kConfig = C::kValue;
  const TileCost cost{kConfig.BM, kConfig.BN, kConfig.BK, blocks_per_sm(kConfig, sizeof(T)),
                      peak_fraction(kConfig)};
  Kernel kernel =
      describe_kernel("k04_vectorized", "vectorized", DTypeOf<T>::value, kConfig.to_string(),
                      "16-byte loads, shared reads and stores", cost);
  kernel.why = "a quarter of the instructions that move data";
  if (!kConfig.is_narrow()) {
    kernel.limits = "A and B must be aligned to 16 bytes";
    kernel.alignment_bytes = 16;
    kernel.can_implement = [](const Problem& p, const DeviceInfo&) {
      const auto rejection = refuse_unaligned(alignment_of_a(p));
      return rejection ? rejection : refuse_unaligned(alignment_of_b(p));
    };
  }
  kernel.launch = [](const Problem& p, const Operands& x, const LaunchContext& context) {
    launch_gemm(vectorized<T, C>, p, x, C::kValue.BM, C::kValue.BN, dim3(C::kValue.threads()),
                context.stream);
  };
  registry.add(std::move(kernel));
}

/// A tile with the widest loads, then with the narrowest.
template <class T, int BM, int BN, int BK, int TM, int TN>
void add_both(Registry& registry) {
  add<T, VectorConfigOf<BM, BN, BK, TM, TN, 1, vector_width(sizeof(T))>>(registry);
  add<T, VectorConfigOf<BM, BN, BK, TM, TN, 1, 1>>(registry);
}

}  // namespace

void register_k04_vectorized(Registry& registry);
void register_k04_vectorized(Registry& registry) {
  add_both<float, 128, 128, 16, 8, 8>(registry);
  add_both<float, 128, 128, 32, 8, 8>(registry);
  add_both<float, 128, 64, 16, 8, 8>(registry);
  add_both<float, 64, 64, 16, 4, 4>(registry);
  add_both<double, 128, 64, 8, 8, 4>(registry);
  add_both<double, 64, 64, 16, 4, 4>(registry);
}

}  // namespace tessera
