// k05_double_buffered: the next tiles arrive while this one is multiplied.
//
// Idea: `stages` pairs of shared tiles; cp.async fills them ahead without registers and without
// waiting, a thread waits only for the oldest, and one barrier a tile is enough.
// New since k04: no round trip to global memory between two tiles, as long as multiplying
// stages - 1 tiles takes longer than fetching one.
// cp.async moves bytes unchanged, and k-major tiles need a panel that is contiguous along k
// transposed. It is scattered by copies of one element: a few percent more instructions. Keeping
// it as it lies and reading several p of each line at once costs TM * 3 more registers, which two
// blocks of 8 x 8 results a thread do not have.
// Expected bottleneck: a thread waits for its own shared reads before it multiplies.
// Limits: sm_80; the wide configurations need panels that are not contiguous along k aligned to
// 16 bytes. The narrow ones take the rest.
#include "cuda/alignment_rule.h"
#include "cuda/async_loader.cuh"
#include "cuda/describe.h"
#include "cuda/launch.cuh"
#include "cuda/thread_tile.cuh"

namespace tessera {
namespace {

using namespace cuda;
using Config = VectorConfig;

template <class T, class C>
__global__ void __launch_bounds__(C::kValue.threads(), blocks_per_sm(C::kValue, sizeof(T)))
    double_buffered(const GemmArgs<T> x) {
  constexpr Config kConfig = C::kValue;
  static_assert(broken_rule(kConfig, sizeof(T)) == nullptr && kConfig.stages >= 2);
  constexpr int BM = kConfig.BM, BN = kConfig.BN, BK = kConfig.BK, kAhead = kConfig.stages - 1;
  using LoaderA = AsyncLoader<T, BM, BK, kConfig.threads(), kConfig.vector>;
  using LoaderB = AsyncLoader<T, BN, BK, kConfig.threads(), kConfig.vector>;
  constexpr int kTileA = BK * LoaderA::kPitch, kTileB = BK * LoaderB::kPitch;
  alignas(16) __shared__ T s_a[kConfig.stages * kTileA];
  alignas(16) __shared__ T s_b[kConfig.stages * kTileB];

  const int thread = threadIdx.x;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * BM;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * BN;
  LoaderA load_a(x.a.batch_member(blockIdx.z), first_row, thread);
  LoaderB load_b(x.b.batch_member(blockIdx.z), first_col, thread);
  ThreadTile<T, kConfig> results(thread);

  // Past the end of k nothing is copied, but a group is still closed: the wait below counts groups.
  std::int64_t depth_to_start = x.k;
  const auto start = [&](int stage) {
    if (depth_to_start > 0) {
      load_a.start(s_a + stage * kTileA);
      load_b.start(s_b + stage * kTileB);
    }
    depth_to_start -= BK;
    ptx::cp_async_commit();
  };
#pragma unroll
  for (int stage = 0; stage < kAhead; ++stage) start(stage);

  int stage = 0, free_stage = kAhead;
  for (std::int64_t p0 = 0; p0 < x.k; p0 += BK) {
    ptx::cp_async_wait<kAhead - 1>();  // this thread's part of the tile has arrived
    __syncthreads();  // and everyone's; everyone has also read the tile before, so it may go
    start(free_stage);
    results.multiply(s_a + stage * kTileA, s_b + stage * kTileB);
    free_stage = stage;
    stage = stage == kAhead ? 0 : stage + 1;
  }
  results.store(x, blockIdx.z, first_row, first_col);
}

/// Panels that are contiguous along k are copied by element, however they lie.
std::optional<Rejection> refuse_unaligned_lines(const Problem& p) {
  std::optional<Rejection> rejection;
  if (p.trans_a) rejection = refuse_unaligned(alignment_of_a(p));
  if (!rejection && !p.trans_b) rejection = refuse_unaligned(alignment_of_b(p));
  return rejection;
}

template <class T, class C>
void add(Registry& registry) {
  constexpr Config kConfig = C::kValue;
  // The wait for the tiles is hidden; what is left are the barrier and the first shared reads.
  const TileCost cost{
      kConfig.BM, kConfig.BN, kConfig.BK, blocks_per_sm(kConfig, sizeof(T)), peak_fraction(kConfig),
      0.1};
  Kernel kernel =
      describe_kernel("k05_double_buffered", "double_buffered", DTypeOf<T>::value,
                      kConfig.to_string(), "the next tiles arrive while one is multiplied", cost);
  kernel.why = "the next tiles arrive during the multiply-adds";
  kernel.arch = "sm_80 or newer";
  if (!kConfig.is_narrow()) {
    kernel.limits = "A if transposed and B if not must be aligned to 16 bytes";
    kernel.alignment_bytes = 16;
  }
  kernel.can_implement = [](const Problem& p, const DeviceInfo& device) {
    std::optional<Rejection> rejection;
    if (device.compute_major < 8) {
      rejection = Rejection{"it needs compute capability 8.0; the device has " +
                                std::to_string(device.compute_major) + "." +
                                std::to_string(device.compute_minor),
                            ""};
    } else if (!C::kValue.is_narrow()) {
      rejection = refuse_unaligned_lines(p);
    }
    return rejection;
  };
  kernel.launch = [](const Problem& p, const Operands& x, const LaunchContext& context) {
    launch_gemm(double_buffered<T, C>, p, x, C::kValue.BM, C::kValue.BN, dim3(C::kValue.threads()),
                context.stream);
  };
  registry.add(std::move(kernel));
}

/// A tile with the widest copies, then with the narrowest.
template <class T, int BM, int BN, int BK, int TM, int TN, int kStages>
void add_both(Registry& registry) {
  add<T, VectorConfigOf<BM, BN, BK, TM, TN, kStages, vector_width(sizeof(T))>>(registry);
  add<T, VectorConfigOf<BM, BN, BK, TM, TN, kStages, 1>>(registry);
}

}  // namespace

void register_k05_double_buffered(Registry& registry);
void register_k05_double_buffered(Registry& registry) {
  add_both<float, 128, 128, 8, 8, 8, 4>(registry);
  add_both<float, 128, 128, 16, 8, 8, 2>(registry);
  add_both<float, 128, 256, 8, 8, 16, 3>(registry);
  add_both<float, 128, 64, 16, 8, 8, 2>(registry);
  add_both<float, 64, 64, 16, 4, 4, 3>(registry);
  add_both<double, 128, 64, 8, 8, 4, 3>(registry);
  add_both<double, 64, 64, 16, 4, 4, 2>(registry);
}

}  // namespace tessera
