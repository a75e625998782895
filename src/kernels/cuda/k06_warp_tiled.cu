// k06_warp_tiled: every level of the chip has its own tile, and the last tiles are cut along k.
//
// Idea: a block tile in shared memory, a warp tile of 4 x 8 threads, a thread tile in registers.
// Tiles travel by cp.async through a ring of stages, without passing through registers; while the
// multiply-adds of one p run, the fragments of the next are already being read.
// New since k05: lanes laid out so that a fragment is read in fewer passes; a configuration for
// each kind of shape; tiles that do not fill the chip are cut along k into pieces, which a second
// kernel adds up in a fixed order; a block's slices of warps may take different p of one tile.
// Expected bottleneck: the multiply-adds, and the instructions between them.
// Limits: FP32 only. Copies are 16 bytes wide where lines are contiguous and pointer, ld and number
// of lines are multiples of four floats; otherwise 4.
#include "cuda/async_tile.cuh"
#include "cuda/describe.h"
#include "cuda/launch.cuh"
#include "cuda/plan_tiles.h"
#include "cuda/warp_tile.cuh"

namespace tessera {
namespace {

using namespace cuda;

/// A block computes BM x BN elements of C, BK deep at a time; a thread TM x TN of them.
struct Config {
  int BM, BN, BK, TM, TN;
  int slices;  ///< groups of warps that share a block's tile by taking different p
  int stages;  ///< tiles in shared memory
  int blocks;  ///< resident on one multiprocessor

  constexpr int warp_m() const { return 4 * TM; }
  constexpr int warp_n() const { return 8 * TN; }
  constexpr int slice_threads() const { return 32 * (BM / warp_m()) * (BN / warp_n()); }
  constexpr int threads() const { return slices * slice_threads(); }
  constexpr int pitch() const { return BM + BN + 4; }  // one p: a line of A, a line of B, padding
  constexpr int shared_bytes() const { return stages * BK * pitch() * 4; }

  std::string to_string() const {
    const auto text = [](int x) { return std::to_string(x); };
    return text(BM) + "x" + text(BN) + "x" + text(BK) + "_t" + text(TM) + "x" + text(TN) +
           (slices > 1 ? "_k" + text(slices) : "");
  }
};

/// The first rule that the configuration breaks, or null when it is legal.
constexpr const char* broken_rule(const Config& c) {
  if (c.TM % 4 != 0 || c.TN % 4 != 0) return "TM and TN must be multiples of 4";
  if (c.BM % c.warp_m() != 0 || c.BN % c.warp_n() != 0) return "BM % 4TM and BN % 8TN must be 0";
  if (c.threads() > 1024) return "a block has at most 1024 threads";
  if (c.pitch() % 32 != 4) return "BM + BN must be a multiple of 32";
  if (c.BK % (8 * c.slices) != 0) return "a slice of BK must be a multiple of 8";
  if (c.stages < 2) return "the ring needs two stages";
  if (c.slices > 1 && c.BM * c.BN * 4 > c.shared_bytes()) return "a slice must fit the ring";
  if (c.blocks * (c.shared_bytes() + 1024) > 228 * 1024) return "the blocks must fit 228 KiB";
  return nullptr;
}

struct Args {
  GemmArgs<float> gemm;
  TileSchedule schedule;
  float* partials;   // slots of BM x BN sums
  bool c_is_vector;  // rows of C can be read and written 16 bytes at a time
};

/// Sums the products of `count` tiles along p, from `first` on, into r_c.
template <class K, Access kA, Access kB>
__device__ __forceinline__ void multiply(const Args& x, const TileSchedule::Place& place,
                                         std::int64_t first, int count, float* s_ring,
                                         const ThreadTile<K>& own, int slice,
                                         float (&r_c)[K::config.TM][K::config.TN]) {
  constexpr Config c = K::config;
  constexpr int kTile = c.BK * c.pitch(), kRing = c.stages * kTile, kDepth = c.BK / c.slices;
  // The first tile takes what k leaves over, so that every tile the loop copies is full.
  const int head = static_cast<int>(x.gemm.k - (x.schedule.steps - 1) * c.BK);
  const std::int64_t p0 = first == 0 ? 0 : head + (first - 1) * c.BK;
  AsyncTile<kA, c.BM, c.BK, c.pitch(), c.threads()> load_a(x.gemm.a.batch_member(place.batch),
                                                           place.row * c.BM, p0, threadIdx.x);
  AsyncTile<kB, c.BN, c.BK, c.pitch(), c.threads()> load_b(x.gemm.b.batch_member(place.batch),
                                                           place.col * c.BN, p0, threadIdx.x);

  load_a.copy_short(s_ring, first == 0 ? head : c.BK);
  load_b.copy_short(s_ring + c.BM, first == 0 ? head : c.BK);
  ptx::cp_async_commit();
#pragma unroll
  for (int stage = 1; stage < c.stages - 1; ++stage) {
    load_a.copy(s_ring + stage * kTile, stage < count);
    load_b.copy(s_ring + stage * kTile + c.BM, stage < count);
    ptx::cp_async_commit();
  }
  ptx::cp_async_wait<c.stages - 2>();
  __syncthreads();  // everyone's part of the first tile is there

  float r_a[2][c.TM], r_b[2][c.TN];
  const float* s_a = s_ring + slice * kDepth * c.pitch() + own.first_row;
  const float* s_b = s_ring + slice * kDepth * c.pitch() + c.BM + own.first_col;
  load_fragment<16>(r_a[0], s_a);
  load_fragment<32>(r_b[0], s_b);
  int read = 0, write = kRing - kTile;
  for (int tile = 0; tile < count; ++tile) {
    const int next = read == kRing - kTile ? 0 : read + kTile;
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      if (p == kDepth - 1) {
        // Behind this barrier the next tile is complete, and everyone has read the present one,
        // whose place the copies of the next turn take.
        ptx::cp_async_wait<c.stages - 2>();
        __syncthreads();
      }
      const int from = p == kDepth - 1 ? next : read + (p + 1) * c.pitch();
      load_fragment<16>(r_a[(p + 1) % 2], s_a + from);
      load_fragment<32>(r_b[(p + 1) % 2], s_b + from);
      if (p == 0) {
        const bool present = tile + c.stages - 1 < count;
        load_a.copy(s_ring + write, present);
        load_b.copy(s_ring + write + c.BM, present);
        ptx::cp_async_commit();
        write = write == kRing - kTile ? 0 : write + kTile;
      }
      outer_product(r_c, r_a[p % 2], r_b[p % 2]);
    }
    read = next;
  }
  ptx::cp_async_wait<0>();  // the ring is about to be used again; zeros may still be on their way
  __syncthreads();
}

/// Adds the other slices' sums to slice 0's, in the order of the slices.
template <class K>
__device__ __forceinline__ void add_slices(float* s_sums, int slice,
                                           float (&r_c)[K::config.TM][K::config.TN]) {
  constexpr Config c = K::config;
  float4* s_own = reinterpret_cast<float4*>(s_sums) + threadIdx.x % c.slice_threads();
  for (int giver = 1; giver < c.slices; ++giver) {
#pragma unroll
    for (int i = 0; i < c.TM; ++i) {
#pragma unroll
      for (int j = 0; j < c.TN; j += 4) {
        float4& s_four = s_own[(i * c.TN + j) / 4 * c.slice_threads()];
        if (slice == giver) s_four = {r_c[i][j], r_c[i][j + 1], r_c[i][j + 2], r_c[i][j + 3]};
      }
    }
    __syncthreads();  // the giver's sums are complete
#pragma unroll
    for (int i = 0; i < c.TM; ++i) {
#pragma unroll
      for (int j = 0; j < c.TN; j += 4) {
        if (slice != 0) continue;
        const float4 four = s_own[(i * c.TN + j) / 4 * c.slice_threads()];
        r_c[i][j] += four.x, r_c[i][j + 1] += four.y;
        r_c[i][j + 2] += four.z, r_c[i][j + 3] += four.w;
      }
    }
    __syncthreads();  // and read, before the next giver or the next tile overwrites them
  }
}

template <class K, Access kA, Access kB>
__global__ void __launch_bounds__(K::config.threads(), K::config.blocks)
    warp_tiled(const Args x, std::int64_t first_block) {
  constexpr Config c = K::config;
  static_assert(broken_rule(c) == nullptr);
  extern __shared__ float4 s_memory[];
  float* s_ring = reinterpret_cast<float*>(s_memory);
  const int slice = threadIdx.x / c.slice_threads();
  const ThreadTile<K> own(threadIdx.x % c.slice_threads());

  const TileSchedule& plan = x.schedule;
  const std::int64_t block = first_block + blockIdx.x, end = plan.end_step(block);
  for (std::int64_t step = plan.first_step(block); step < end;) {
    const std::int64_t tile = step / plan.steps, first = step - tile * plan.steps;
    const int count = static_cast<int>(min(end - step, plan.steps - first));
    const TileSchedule::Place place = plan.place(tile);
    float r_c[c.TM][c.TN] = {};
    multiply<K, kA, kB>(x, place, first, count, s_ring, own, slice, r_c);
    add_slices<K>(s_ring, slice, r_c);
    step += count;
    if (slice != 0) continue;
    if (block < plan.whole) {
      store_tile(x.gemm, x.c_is_vector, place, own, 0, r_c);
      continue;
    }
    float* g_slot = x.partials + plan.slot(block - plan.whole, tile) * c.BM * c.BN;
#pragma unroll
    for (int i = 0; i < c.TM; ++i) {
#pragma unroll
      for (int j = 0; j < c.TN; j += 4) {
        *reinterpret_cast<float4*>(g_slot + own.row(i) * c.BN + own.col(j)) = {
            r_c[i][j], r_c[i][j + 1], r_c[i][j + 2], r_c[i][j + 3]};
      }
    }
  }
}

constexpr int kReduceThreads = 256;

/// One thread sums one element of a shared tile over its slots and applies the scalars.
__global__ void __launch_bounds__(kReduceThreads)
    reduce_pieces(const Args x, int tile_m, int tile_n, std::int64_t first_tile) {
  const TileSchedule& plan = x.schedule;
  const std::int64_t tile = plan.whole + first_tile + blockIdx.y;
  const std::int64_t size = std::int64_t{tile_m} * tile_n;
  const int element = blockIdx.x * kReduceThreads + threadIdx.x;
  const std::int64_t first = plan.first_piece(tile);
  const int count = static_cast<int>(plan.last_piece(tile) - first) + 1;
  const float* g_sum = x.partials + plan.slot(first, tile) * size + element;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < count; ++i) sum += g_sum[i * size];
  const TileSchedule::Place place = plan.place(tile);
  const std::int64_t col = place.col * tile_n + element % tile_n;
  if (col >= x.gemm.n) return;
  store_result(x.gemm, place.batch, place.row * tile_m + element / tile_n, col, sum);
}

Access access_to(bool along_depth, int alignment, std::int64_t lines) {
  if (along_depth) return Access::kDepth;
  return alignment >= 16 && lines % 4 == 0 ? Access::kVectors : Access::kLines;
}

template <class K, Access kA>
auto kernel_for(Access b) {
  return b == Access::kVectors ? warp_tiled<K, kA, Access::kVectors>
         : b == Access::kLines ? warp_tiled<K, kA, Access::kLines>
                               : warp_tiled<K, kA, Access::kDepth>;
}

template <class K>
auto kernel_for(Access a, Access b) {
  return a == Access::kVectors ? kernel_for<K, Access::kVectors>(b)
         : a == Access::kLines ? kernel_for<K, Access::kLines>(b)
                               : kernel_for<K, Access::kDepth>(b);
}

/// Blocks from `first` on, as many at a time as a launch takes.
template <class Launch>
void in_launches(std::int64_t count, std::int64_t most, Launch launch) {
  for (std::int64_t first = 0; first < count; first += most) {
    launch(first, static_cast<unsigned>(std::min(count - first, most)));
  }
}

template <class K>
void run(const Problem& p, const Operands& operands, const TileSchedule& plan, void* workspace,
         void* stream) {
  constexpr Config c = K::config;
  Args x{};
  x.gemm = args_of<float>(p, operands, {0, 0, 0, p.m, p.n, {}});
  x.schedule = plan;
  x.partials = static_cast<float*>(workspace);
  x.c_is_vector = p.align_c >= 16 && p.n % 4 == 0;
  const auto kernel =
      kernel_for<K>(access_to(!p.trans_a, p.align_a, p.m), access_to(p.trans_b, p.align_b, p.n));
  in_launches(plan.blocks(), kMaxGridX, [&](std::int64_t first, unsigned count) {
    launch_with_shared(kernel, dim3(count), dim3(c.threads()), c.shared_bytes(), stream, x, first);
  });
  in_launches(plan.rest(), kMaxGridYZ, [&](std::int64_t first, unsigned count) {
    launch(reduce_pieces, dim3(c.BM * c.BN / kReduceThreads, count), dim3(kReduceThreads), stream,
           x, c.BM, c.BN, first);
  });
}

/// What copies of 4 bytes leave of the speed. The operand of which a tile holds more decides.
template <class K>
double copy_fraction(const Problem& p) {
  constexpr Config c = K::config;
  const Access a = access_to(!p.trans_a, p.align_a, p.m), b = access_to(p.trans_b, p.align_b, p.n);
  switch (c.BM > c.BN ? a : b) {
    case Access::kDepth:
      return c.BN == 256 ? 0.90 : 0.87;
    case Access::kLines:
      return 0.95;
    default:
      return a == b ? 1.022 : 1;
  }
}

template <class K>
TilePlan plan_for(const Problem& p, const DeviceInfo& device) {
  constexpr Config c = K::config;
  return plan_tiles(
      p, device,
      {c.BM, c.BN, c.BK, c.threads() / 32, c.blocks, K::peak_fraction * copy_fraction<K>(p)});
}

template <class K>
void add(Registry& registry) {
  constexpr Config c = K::config;
  Kernel kernel =
      describe_kernel("k06_warp_tiled", "warp_tiled", DType::kF32, c.to_string(),
                      "block, warp and thread tiles, asynchronous copies, last tiles cut along k",
                      {c.BM, c.BN, c.BK, c.blocks, K::peak_fraction});
  kernel.why = "more results for each value read, and tiles for every shape";
  kernel.can_implement = [](const Problem&, const DeviceInfo& device) {
    std::optional<Rejection> rejection;
    if (K::config.shared_bytes() > device.shared_bytes_per_block) {
      rejection = {"a block needs " + std::to_string(K::config.shared_bytes()) +
                       " bytes of shared memory; the device has " +
                       std::to_string(device.shared_bytes_per_block),
                   ""};
    }
    return rejection;
  };
  kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
    return plan_for<K>(p, device).us;
  };
  kernel.workspace_bytes = [](const Problem& p, const DeviceInfo& device, int) {
    const auto slots = static_cast<std::size_t>(plan_for<K>(p, device).schedule.slots());
    return slots * K::config.BM * K::config.BN * sizeof(float);
  };
  kernel.launch = [](const Problem& p, const Operands& x, const LaunchContext& context) {
    run<K>(p, x, plan_for<K>(p, context.device).schedule, context.workspace, context.stream);
  };
  registry.add(std::move(kernel));
}

/// For products that fill the chip several times.
struct Large {
  static constexpr Config config{128, 256, 8, 8, 16, 1, 6, 1};
  static constexpr double peak_fraction = 0.96;
};
/// Three independent blocks to a multiprocessor: for short k, and few tiles cut along it.
struct Medium {
  static constexpr Config config{64, 128, 16, 8, 8, 1, 2, 3};
  static constexpr double peak_fraction = 0.885;
};
/// The same for C with few columns.
struct Tall {
  static constexpr Config config{128, 64, 16, 8, 8, 1, 2, 3};
  static constexpr double peak_fraction = 0.87;
};
/// Twice the warps for one tile: when there is about one for each multiprocessor.
struct Sliced {
  static constexpr Config config{64, 128, 16, 8, 8, 2, 3, 1};
  static constexpr double peak_fraction = 0.80;
};
struct Small {
  static constexpr Config config{32, 64, 16, 4, 4, 1, 4, 5};
  static constexpr double peak_fraction = 0.70;
};

}  // namespace

void register_k06_warp_tiled(Registry& registry);
void register_k06_warp_tiled(Registry& registry) {
  add<Large>(registry);
  add<Medium>(registry);
  add<Tall>(registry);
  add<Sliced>(registry);
  add<Small>(registry);
}

}  // namespace tessera
