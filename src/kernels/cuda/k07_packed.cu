// k07_packed: operands brought into one form, tiles fetched by the copy engine.
//
// Idea: a first kernel copies an operand whose lines do not lie side by side at multiples of 16
// bytes so that they do; then one thread has a whole stage fetched by two instructions, and no
// thread computes a global address or tests an edge in the loop. The product's blocks start while
// the last copies are made. Where few tiles share an operand that is contiguous along k, it is not
// copied: its stages are fetched as they lie and turned in shared memory.
// New since k06: packing; tensor copies counted by mbarriers, so that warps wait for data and for
// each other's laggards only, never at a barrier; sums that are moved as quads down a column, which
// leaves registers where a multiply-add reads each bank once; slices that share the final work;
// a tile's pieces added by the block that is last to finish one.
// Expected bottleneck: the multiply-adds.
// Limits: FP32, compute capability 9.0 or newer, a workspace for the copies.
#include "cuda/describe.h"
#include "cuda/join_sums.cuh"
#include "cuda/launch.cuh"
#include "cuda/pack.cuh"
#include "cuda/packed_plan.cuh"
#include "cuda/ptx/grid_dependency.cuh"
#include "cuda/stage_ring.cuh"
#include "cuda/tensor_map.h"
#include "cuda/tile_segments.cuh"
#include "cuda/turned_panel.cuh"
#include "cuda/warp_tile.cuh"

namespace tessera {
namespace {

using namespace cuda;

/// A block computes BM x BN elements of C, BK deep at a time; a thread TM x TN of them.
struct Config {
  int BM, BN, BK, TM, TN;
  int slices;  ///< groups of warps that share a block's tile by taking different p
  int stages;  ///< tiles in shared memory

  constexpr int warp_m() const { return 4 * TM; }
  constexpr int warp_n() const { return 8 * TN; }
  constexpr int slice_threads() const { return 32 * (BM / warp_m()) * (BN / warp_n()); }
  constexpr int threads() const { return slices * slice_threads(); }
  constexpr int warps() const { return threads() / 32; }
  constexpr int depth() const { return BK / slices; }  // of one slice in one stage
  constexpr int rows() const { return TM / slices; }   // of its results that a thread finishes
  constexpr int stage_floats() const { return BK * (BM + BN); }

  std::string to_string() const {
    const auto text = [](int x) { return std::to_string(x); };
    return text(BM) + "x" + text(BN) + "x" + text(BK) + "_t" + text(TM) + "x" + text(TN) +
           (slices > 1 ? "_k" + text(slices) : "");
  }
};

constexpr int kStaticSharedBytes = 128;  // at most, beside the ring
constexpr int kWorkspacePart = 8;        // of the device's memory, for copies and partial sums
constexpr int kBody = 8;  // p in the body of the loop: longer ones leave the code cache

/// The first rule that the configuration breaks, or null when it is legal.
constexpr const char* broken_rule(const Config& c) {
  if (c.rows() % 4 != 0 || c.TN % 4 != 0) return "TM / slices and TN must be multiples of 4";
  if (c.BM % c.warp_m() != 0 || c.BN % c.warp_n() != 0) return "BM % 4TM and BN % 8TN must be 0";
  if (c.BM > 256 || c.BN > 256 || c.BK > 256) return "a box has at most 256 elements a side";
  if (c.depth() % kBody != 0) return "a slice of BK must be a multiple of 8";
  if (c.stages < 3) return "one stage is read, one turned, one fetched";
  if (c.slices > 1 && c.slices * c.BM * c.BN > c.stages * c.stage_floats()) {
    return "the slices' sums must fit the ring";
  }
  if (c.BM * (c.BN + 4) > c.stages * c.stage_floats()) return "a tile of C must fit the ring";
  return nullptr;
}

struct Args {
  CUtensorMap map_a, map_b;
  GemmArgs<float> gemm;
  PieceSlots pieces;
  bool c_is_vector;
  int member_step_a, member_step_b;  // 0 where all batch members share an operand
};

template <class K>
using Ring = StageRing<K::config.stages, K::config.stage_floats() * 4>;

extern __shared__ __align__(128) float s_memory[];

/// Where the next tiles of a segment are, for whichever warp fetches them.
struct Task {
  int row, col, member;
  int end;  // one past the segment's last p
};

/// A thread's part of one p of an operand: groups of four, kStep lines apart.
template <bool kTurned, int kStep, int kCount>
__device__ __forceinline__ void load(float (&r_to)[kCount], const float* s_from) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    float r_four[4];
    load_fragment<4>(r_four, s_from + line_offset<kTurned>(i / 4 * kStep));
#pragma unroll
    for (int e = 0; e < 4; ++e) r_to[i + e] = r_four[e];
  }
}

/// Brings the parts of a stage that lie along p into the order in which they are read.
template <class K, bool kTurnA, bool kTurnB>
__device__ __forceinline__ void turn(const Ring<K>& ring) {
  constexpr Config c = K::config;
  constexpr int kOfA = c.BK * c.BM / kBlockFloats, kOfB = c.BK * c.BN / kBlockFloats;
  ring.wait_full();
  turn_blocks<(kTurnA ? kOfA : 0) + (kTurnB ? kOfB : 0), c.warps(), c.slices == 1 ? 1 : 2>(
      s_memory + ring.stage() * c.stage_floats() + (kTurnA ? 0 : c.BK * c.BM));
  ring.announce_turned();
}

/// Sums the products of `count` stages along p, from stage `first` of the tile on, into r_c.
template <class K, bool kTurnA, bool kTurnB>
__device__ __forceinline__ void multiply(const Args& x, const TileSchedule::Place& place, int first,
                                         int count, Task& s_task, Ring<K>& ring,
                                         const ThreadTile<K>& own, int slice,
                                         float (&r_c)[K::config.TM][K::config.TN]) {
  constexpr Config c = K::config;
  constexpr int kAhead = c.stages - 1, kBodies = c.depth() / kBody;
  constexpr int kStepA = depth_step<kTurnA, c.BM>(), kStepB = depth_step<kTurnB, c.BN>();
  constexpr bool kTurns = kTurnA || kTurnB;
  // One thread has the parts of A and B fetched whose first p is given.
  const auto fetch = [&x](const Ring<K>& to, const Task& task, int p) {
    const auto stage = to.begin_refill();
    if constexpr (kTurns) ptx::fence_before_async_writes();  // that of the turned stage before
    constexpr Config k = K::config;
    fetch_panel<kTurnA, k.BM, k.BK>(stage, &x.map_a, task.row, p, task.member * x.member_step_a,
                                    to.full());
    fetch_panel<kTurnB, k.BN, k.BK>(stage + k.BK * k.BM * 4, &x.map_b, task.col, p,
                                    task.member * x.member_step_b, to.full());
  };
  if (threadIdx.x == 0) {
    // Nobody reads the task of the segment before any more: whoever still had to fetch for it
    // would have kept this thread from finishing it.
    s_task = {static_cast<int>(place.row) * c.BM, static_cast<int>(place.col) * c.BN,
              static_cast<int>(place.batch), (first + count) * c.BK};
    // What was packed and cleared is there from now on, also for whoever waits for the first stage.
    ptx::wait_for_grid_before();
#pragma unroll 1
    for (int i = 0; i < kAhead && i < count; ++i) {
      fetch(ring.ahead(i), s_task, (first + i) * c.BK);
    }
  }

  float r_a[2][c.TM], r_b[2][c.TN];
  const int a_offset = slice * kBody * c.BM + line_offset<kTurnA>(own.first_row);
  const int b_offset = c.BK * c.BM + slice * kBody * c.BN + line_offset<kTurnB>(own.first_col);
  const float* s_a = s_memory + ring.stage() * c.stage_floats() + a_offset;
  const float* s_b = s_memory + ring.stage() * c.stage_floats() + b_offset;
  // The slices take eights of p in turns, and none past the end of k.
  const std::int64_t end = min(std::int64_t{first + count} * c.BK, x.gemm.k);
  const auto left_of_k = static_cast<int>(end - std::int64_t{first} * c.BK);
  int bodies = ((left_of_k + kBody - 1) / kBody - slice + c.slices - 1) / c.slices;
  int in_stage = kBodies;
  // Two warps share each quarter of the multiprocessor: while one turns, the other multiplies.
  [[maybe_unused]] const int turn_at = kBodies - threadIdx.x / 128 % 2 * (kBodies / 2);
  if constexpr (kTurns) {
    turn<K, kTurnA, kTurnB>(ring);
    ring.wait_turned();
  } else {
    ring.wait_full();
  }
  load<kTurnA, 16>(r_a[0], s_a);
  load<kTurnB, 32>(r_b[0], s_b);
#pragma unroll 1
  for (; bodies > 0; --bodies) {
    if constexpr (kTurns) {
      if (in_stage == turn_at && count > 1) turn<K, kTurnA, kTurnB>(ring.ahead(1));
    }
#pragma unroll
    for (int p = 0; p < kBody; ++p) {
      if (p < kBody - 1) {
        load<kTurnA, 16>(r_a[(p + 1) % 2], s_a + (p + 1) * kStepA);
        load<kTurnB, 32>(r_b[(p + 1) % 2], s_b + (p + 1) * kStepB);
      } else {
        s_a += c.slices * kBody * c.BM, s_b += c.slices * kBody * c.BN;
        if (kBodies == 1 || --in_stage == 0 || bodies == 1) {
          __syncwarp();  // all lanes have read the stage
          if (threadIdx.x % 32 == 0) ring.release();
          // The warps take turns; the stage that is fetched was released by this one a turn ago.
          if (count > kAhead && threadIdx.x == count % c.warps() * 32) {
            fetch(ring.ahead(kAhead), s_task, s_task.end + (kAhead - count) * c.BK);
          }
          --count;
          ring.advance();
          in_stage = kBodies;
          s_a = s_memory + ring.stage() * c.stage_floats() + a_offset;
          s_b = s_memory + ring.stage() * c.stage_floats() + b_offset;
          if constexpr (kTurns) {
            if (bodies > 1) ring.wait_turned();
          } else {
            if (bodies > 1) ring.wait_full();
          }
        }
        // After the last body nothing is on its way and what is read here is not used.
        load<kTurnA, 16>(r_a[(p + 1) % 2], s_a);
        load<kTurnB, 32>(r_b[(p + 1) % 2], s_b);
      }
      outer_product(r_c, r_a[p % 2], r_b[p % 2]);
    }
  }
  if (c.slices > 1 && count > 0) {  // the last stage had nothing for this slice
    if (threadIdx.x % 32 == 0) ring.release();
    ring.advance();
  }
}

/// Between other uses of the ring's memory and the copy engine's next write to it.
__device__ __forceinline__ void free_ring() {
  ptx::fence_before_async_writes();
  __syncthreads();
}

template <class K, bool kTurnA, bool kTurnB>
__global__ void __launch_bounds__(K::config.threads(), 1) packed(const __grid_constant__ Args x) {
  constexpr Config c = K::config;
  static_assert(broken_rule(c) == nullptr);
  __shared__ Task s_task;
  Ring<K> ring(s_memory);
  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(&x.map_a);
    ptx::prefetch_tensor_map(&x.map_b);
    ring.initialise(c.warps());
  }
  __syncthreads();
  const int slice = threadIdx.x / c.slice_threads();
  const ThreadTile<K> own(threadIdx.x % c.slice_threads());
  Segments now(x.pieces.schedule);
#pragma unroll 1
  while (now.next()) {
    float r_c[c.TM][c.TN] = {}, r_own[c.rows()][c.TN];
    multiply<K, kTurnA, kTurnB>(x, x.pieces.schedule.place(now.tile), now.first, now.count, s_task,
                                ring, own, slice, r_c);
    if constexpr (c.slices > 1) {
      add_slices<K>(reinterpret_cast<float4*>(s_memory), slice, r_c, r_own);
      free_ring();
    } else {
#pragma unroll
      for (int i = 0; i < c.TM; ++i) {
#pragma unroll
        for (int j = 0; j < c.TN; ++j) r_own[i][j] = r_c[i][j];
      }
    }
    const bool complete = now.count == x.pieces.schedule.steps ||
                          add_pieces<K>(x.pieces, now.tile, static_cast<int>(blockIdx.x), r_own);
    if (!complete) continue;
    const TileSchedule::Place place = x.pieces.schedule.place(now.tile);
    if (x.c_is_vector) {
      store_tile(x.gemm, true, place, own, slice * c.rows(), r_own);
    } else {
      store_by_rows(x.gemm, place, own, slice * c.rows(), s_memory, r_own);
      free_ring();
    }
  }
}

template <class K>
PackedPlan plan_for(const Problem& p, const Operands& x, const DeviceInfo& device) {
  constexpr Config c = K::config;
  TileKernel kernel{c.BM, c.BN, c.BK, c.warps(), 1, K::peak_fraction};
  kernel.joins_pieces = true;
  return plan_packed(p, x, device, kernel);
}

template <class K>
void run(const Problem& p, const Operands& operands, const LaunchContext& context) {
  constexpr Config c = K::config;
  const PackedPlan plan = plan_for<K>(p, operands, context.device);
  char* workspace = static_cast<char*>(context.workspace);
  Args x{};
  x.gemm = args_of<float>(p, operands, {0, 0, 0, p.m, p.n, {}});
  x.pieces.schedule = plan.tiles.schedule;
  x.pieces.partials = reinterpret_cast<float4*>(workspace + plan.partials);
  x.pieces.arrivals = reinterpret_cast<unsigned*>(workspace + plan.arrivals);
  x.c_is_vector = p.align_c >= 16 && p.n % 4 == 0;
  x.map_a = plan.a.map(workspace, c.BM, c.BK);
  x.map_b = plan.b.map(workspace, c.BN, c.BK);
  x.member_step_a = plan.a.batch > 1, x.member_step_b = plan.b.batch > 1;
  const Start start = launch_pack(
      {{plan.a.job(workspace), plan.b.job(workspace)}, x.pieces.arrivals, x.pieces.schedule.rest()},
      context.stream);
  // Whole tiles are taken in turns; each piece has a block of its own.
  const std::int64_t resident = std::max(1, context.device.sm_count);
  const std::int64_t blocks =
      std::max(std::min(x.pieces.schedule.whole, resident), x.pieces.schedule.pieces());
  const auto kernel = plan.a.is_turned()
                          ? (plan.b.is_turned() ? packed<K, true, true> : packed<K, true, false>)
                          : (plan.b.is_turned() ? packed<K, false, true> : packed<K, false, false>);
  launch_at(start, kernel, dim3(static_cast<unsigned>(blocks)), dim3(c.threads()), Ring<K>::kBytes,
            context.stream, x);
}

/// Newest compute capability that this file has been compiled for, times ten.
constexpr int newest_architecture() {
#ifdef __CUDA_ARCH_LIST__
  int newest = 0;
  for (const int architecture : {__CUDA_ARCH_LIST__}) newest = std::max(newest, architecture);
  return newest;
#else
  return 0;
#endif
}

template <class K>
std::optional<Rejection> refuse(const Problem& p, const DeviceInfo& device) {
  if (device.compute_major < 9) {
    return Rejection{"it needs compute capability 9.0 or newer; the device has " +
                         std::to_string(device.compute_major) + "." +
                         std::to_string(device.compute_minor),
                     ""};
  }
  if (newest_architecture() < 900) {
    return Rejection{"the library was built without code for compute capability 9.0", ""};
  }
  const std::int64_t shared = Ring<K>::kBytes + kStaticSharedBytes;
  if (shared > device.shared_bytes_per_block) {
    return Rejection{"a block needs " + std::to_string(shared) +
                         " bytes of shared memory; the device has " +
                         std::to_string(device.shared_bytes_per_block),
                     ""};
  }
  constexpr std::int64_t kMost = 1 << 30;  // tiles of it are counted and addressed in 32 bits
  if (std::max({p.m, p.n, p.k, p.batch}) > kMost) {
    return Rejection{"m, n, k and batch must be at most 2^30", ""};
  }
  const std::size_t bytes = plan_for<K>(p, {}, device).bytes;
  const auto most = static_cast<std::size_t>(device.memory_bytes / kWorkspacePart);
  if (device.memory_bytes > 0 && bytes > most) {
    return Rejection{"its copies of the operands need " + std::to_string(bytes) +
                         " bytes; it takes at most an eighth of the device's memory, " +
                         std::to_string(most),
                     "operands whose lines along m and n are contiguous and 16-byte aligned"};
  }
  return std::nullopt;
}

template <class K>
void add(Registry& registry) {
  constexpr Config c = K::config;
  Kernel kernel = describe_kernel("k07_packed", "packed", DType::kF32, c.to_string(),
                                  "operands packed where needed, tiles by the copy engine",
                                  {c.BM, c.BN, c.BK, 1, K::peak_fraction});
  kernel.why = "no addresses, edges, transposes or barriers in the loop";
  kernel.arch = "sm_90 or newer";
  kernel.limits = "workspace of at most an eighth of the device's memory";
  kernel.can_implement = refuse<K>;
  kernel.estimate_us = [](const Problem& p, const DeviceInfo& device) {
    return plan_for<K>(p, {}, device).us;
  };
  kernel.workspace_bytes = [](const Problem& p, const DeviceInfo& device, int) {
    return plan_for<K>(p, {}, device).bytes;
  };
  kernel.launch = run<K>;
  registry.add(std::move(kernel));
}

/// For products that fill the chip.
struct Large {
  static constexpr Config config{128, 256, 32, 16, 8, 1, 4};
  static constexpr double peak_fraction = 0.98;
};
/// Four groups of warps on one small tile: for about one for each multiprocessor, and cut ones.
struct Sliced {
  static constexpr Config config{64, 128, 64, 16, 8, 4, 4};
  static constexpr double peak_fraction = 0.935;
};
/// The same for C with few columns.
struct Tall {
  static constexpr Config config{128, 64, 64, 16, 8, 4, 4};
  static constexpr double peak_fraction = 0.935;
};

}  // namespace

void register_k07_packed(Registry& registry);
void register_k07_packed(Registry& registry) {
  add<Large>(registry);
  add<Sliced>(registry);
  add<Tall>(registry);
}

}  // namespace tessera
