// Ceilings of a GPU, measured: what no kernel on it can pass.
#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "bench/gpu.h"
#include "bench/gpu_handles.h"
#include "core/backend.h"
#include "cuda/check.h"
#include "cuda/launch.cuh"

namespace tessera::bench::gpu {
namespace {

// Every kernel stores something that depends on all of its work, so that none can be left out; and
// what it reads in a turn of its loop depends on the turn, so that none can be moved out.

constexpr int kFmaThreads = 256, kFmaChains = 8, kFmaSteps = 32;

/// Chains of multiply-adds that depend on nothing but themselves: the arithmetic alone.
template <class T>
__global__ void __launch_bounds__(kFmaThreads)
    fma_chains(std::int64_t turns, T scale, T shift, T* g_out) {
  T r_chain[kFmaChains];
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) r_chain[i] = static_cast<T>(threadIdx.x + i);
#pragma unroll 1
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < kFmaSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kFmaChains; ++i) r_chain[i] = fma(r_chain[i], scale, shift);
    }
  }
  T sum = 0;
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) sum += r_chain[i];
  g_out[blockIdx.x * kFmaThreads + threadIdx.x] = sum;
}

/// The inner loop of a tiled product and nothing else: one block of 8 warps, each 4 x 8 threads of
/// 16 x 8 results, that multiplies two tiles in shared memory in turn.
struct Outer {
  static constexpr int kThreads = 256, kRows = 16, kCols = 8, kDepth = 8;
  static constexpr int kLinesA = 128, kLinesB = 256, kPitch = kLinesA + kLinesB + 4;
  static constexpr int kTile = kDepth * kPitch;
};

template <int kStep, int kCount>
__device__ __forceinline__ void read_groups(float (&r_to)[kCount], const float* s_from) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(s_from + i / 4 * kStep);
    r_to[i] = four.x, r_to[i + 1] = four.y, r_to[i + 2] = four.z, r_to[i + 3] = four.w;
  }
}

__global__ void __launch_bounds__(Outer::kThreads, 1)
    outer_product(std::int64_t turns, float* g_out) {
  using O = Outer;
  __shared__ float4 s_memory[2 * O::kTile / 4];
  float* s_tiles = reinterpret_cast<float*>(s_memory);
  for (int i = threadIdx.x; i < 2 * O::kTile; i += O::kThreads) {
    // Values of both signs with full mantissas, as real data have: they cost what those cost.
    const unsigned hash = (i * 2654435761U) ^ (i * 40503U << 9);
    s_tiles[i] = static_cast<float>(static_cast<int>(hash)) * 0x1p-31F;
  }
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Neighbouring lanes share a row or a column by turns, which serves 16-byte reads in the fewest
  // passes.
  const int lane_row = (lane >> 1 & 1) | (lane >> 3 & 2), lane_col = (lane & 1) | (lane >> 1 & 6);
  const float* s_a = s_tiles + warp / 4 * 64 + lane_row * 4;
  const float* s_b = s_tiles + O::kLinesA + warp % 4 * 64 + lane_col * 4;

  float r_a[2][O::kRows], r_b[2][O::kCols], r_c[O::kRows][O::kCols] = {};
  read_groups<16>(r_a[0], s_a);
  read_groups<32>(r_b[0], s_b);
  int tile = 0;
#pragma unroll 1
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const int next = O::kTile - tile;
#pragma unroll
    for (int p = 0; p < O::kDepth; ++p) {
      const int from = p == O::kDepth - 1 ? next : tile + (p + 1) * O::kPitch;
      read_groups<16>(r_a[(p + 1) % 2], s_a + from);
      read_groups<32>(r_b[(p + 1) % 2], s_b + from);
      // Down one column and up the next: neighbouring multiply-adds share an operand.
#pragma unroll
      for (int j = 0; j < O::kCols; ++j) {
#pragma unroll
        for (int step = 0; step < O::kRows; ++step) {
          const int i = j % 2 == 0 ? step : O::kRows - 1 - step;
          r_c[i][j] += r_a[p % 2][i] * r_b[p % 2][j];
        }
      }
    }
    tile = next;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < O::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < O::kCols; ++j) sum += r_c[i][j];
  }
  g_out[blockIdx.x * O::kThreads + threadIdx.x] = sum;
}

__device__ __forceinline__ void mix(uint4& x, const uint4& y) {
  x.x ^= y.x, x.y ^= y.y, x.z ^= y.z, x.w ^= y.w;
}

constexpr int kReadThreads = 512, kReadBlocks = 2, kSharedReads = 8, kGlobalReads = 4;

/// 16 bytes a lane, a warp's side by side: four wavefronts of 128 bytes, no conflict.
__global__ void __launch_bounds__(kReadThreads, kReadBlocks)
    shared_reads(std::int64_t turns, int jump, uint4* g_out) {
  __shared__ uint4 s_data[2048];
  for (unsigned i = threadIdx.x; i < 2048; i += kReadThreads) s_data[i] = {i, ~i, i * i, 7 * i};
  __syncthreads();
  uint4 r_mixed{};
  int offset = 0;
#pragma unroll 1
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    uint4 r_read[kSharedReads];
    const uint4* s_from = s_data + offset + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kSharedReads; ++i) r_read[i] = s_from[i * 128];
#pragma unroll
    for (int i = 0; i < kSharedReads; ++i) mix(r_mixed, r_read[i]);
    offset ^= jump;
  }
  g_out[blockIdx.x * kReadThreads + threadIdx.x] = r_mixed;
}

/// Reads the chunks of a buffer in turn, each thread its own vectors, past L1.
__global__ void __launch_bounds__(kReadThreads, kReadBlocks)
    global_reads(std::int64_t turns, const uint4* g_data, int chunks, uint4* g_out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kReadThreads;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kReadThreads + threadIdx.x;
  uint4 r_mixed{};
  int chunk = 0;
#pragma unroll 1
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    uint4 r_read[kGlobalReads];
    const uint4* g_from = g_data + chunk * kGlobalReads * threads + thread;
#pragma unroll
    for (int i = 0; i < kGlobalReads; ++i) r_read[i] = __ldcg(g_from + i * threads);
#pragma unroll
    for (int i = 0; i < kGlobalReads; ++i) mix(r_mixed, r_read[i]);
    chunk = chunk + 1 == chunks ? 0 : chunk + 1;
  }
  g_out[thread] = r_mixed;
}

/// `count` vectors, a multiple of kGlobalReads times the threads of the grid.
__global__ void __launch_bounds__(kReadThreads)
    copy_vectors(std::int64_t count, const uint4* __restrict__ g_from, uint4* __restrict__ g_to) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kReadThreads;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kReadThreads + threadIdx.x;
#pragma unroll 1
  for (std::int64_t at = thread; at < count; at += kGlobalReads * threads) {
    uint4 r_read[kGlobalReads];
#pragma unroll
    for (int i = 0; i < kGlobalReads; ++i) r_read[i] = __ldcs(g_from + at + i * threads);
#pragma unroll
    for (int i = 0; i < kGlobalReads; ++i) __stcs(g_to + at + i * threads, r_read[i]);
  }
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  TESSERA_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, cuda::current_device()));
  return value;
}

class Bench {
 public:
  Bench() {
    // An idle GPU needs some time at work to reach its clock.
    fma<float>(30);
  }

  /// Multiply-adds in registers, FLOP/s.
  template <class T>
  double fma(double least_ms = kLeastMs) const {
    const int blocks = sm_count_ * std::max(1, threads_per_sm_ / kFmaThreads);
    const DeviceMemory out(std::int64_t{blocks} * kFmaThreads * sizeof(T));
    const double seconds = seconds_per_turn(least_ms, [&](std::int64_t turns) {
      cuda::launch(fma_chains<T>, dim3(blocks), dim3(kFmaThreads), stream_.get(), turns, T(0.999),
                   T(0.001), out.as<T>());
    });
    return 2.0 * kFmaChains * kFmaSteps * kFmaThreads * blocks / seconds;
  }

  double outer() const {
    using O = Outer;
    const DeviceMemory out(std::int64_t{sm_count_} * O::kThreads * 4);
    const double seconds = seconds_per_turn(kLeastMs, [&](std::int64_t turns) {
      cuda::launch(outer_product, dim3(sm_count_), dim3(O::kThreads), stream_.get(), turns,
                   out.as<float>());
    });
    return 2.0 * O::kRows * O::kCols * O::kDepth * O::kThreads * sm_count_ / seconds;
  }

  /// Bytes a second, as the two below.
  double shared() const {
    const DeviceMemory out(out_bytes());
    const double seconds = seconds_per_turn(kLeastMs, [&](std::int64_t turns) {
      cuda::launch(shared_reads, dim3(read_blocks()), dim3(kReadThreads), stream_.get(), turns, 512,
                   out.as<uint4>());
    });
    return 16.0 * kSharedReads * kReadThreads * read_blocks() / seconds;
  }

  double l2_reads() const {
    const std::int64_t chunk = 16LL * kGlobalReads * kReadThreads * read_blocks();
    // Under half of L2: the rest is for what else lives there, and for lines held twice where L2
    // has two halves.
    const std::int64_t wanted = attribute(cudaDevAttrL2CacheSize) * 9LL / 20;
    const int chunks = static_cast<int>(std::max<std::int64_t>(1, wanted / chunk));
    const DeviceMemory data(chunk * chunks), out(out_bytes());
    fill(data.as<void>(), 0x5a, static_cast<std::size_t>(chunk * chunks), stream_.get());
    const double seconds = seconds_per_turn(kLeastMs, [&](std::int64_t turns) {
      cuda::launch(global_reads, dim3(read_blocks()), dim3(kReadThreads), stream_.get(), turns,
                   data.as<const uint4>(), chunks, out.as<uint4>());
    });
    return static_cast<double>(chunk) / seconds;
  }

  double copy() const {
    const int blocks = sm_count_ * std::max(1, threads_per_sm_ / kReadThreads);
    const std::int64_t step = 16LL * kGlobalReads * kReadThreads * blocks;
    const std::int64_t wanted = std::max(512LL << 20, 4LL * attribute(cudaDevAttrL2CacheSize));
    const auto free = static_cast<std::int64_t>(cuda::free_bytes());
    const std::int64_t bytes = std::max<std::int64_t>(1, std::min(wanted, free / 4) / step) * step;
    const DeviceMemory from(bytes), to(bytes);
    fill(from.as<void>(), 0x5a, static_cast<std::size_t>(bytes), stream_.get());
    const double seconds = seconds_per_turn(kLeastMs, [&](std::int64_t turns) {
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        cuda::launch(copy_vectors, dim3(blocks), dim3(kReadThreads), stream_.get(), bytes / 16,
                     from.as<const uint4>(), to.as<uint4>());
      }
    });
    // The driver's own copy is now the faster one, now the slower.
    const double copied_s = seconds_per_turn(kLeastMs, [&](std::int64_t turns) {
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        TESSERA_CUDA_CHECK(
            cudaMemcpyAsync(to.as<void>(), from.as<void>(), static_cast<std::size_t>(bytes),
                            cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream_.get())));
      }
    });
    return 2.0 * static_cast<double>(bytes) / std::min(seconds, copied_s);
  }

 private:
  /// Of one measurement: launching is lost in it.
  static constexpr double kLeastMs = 3;

  int read_blocks() const { return sm_count_ * kReadBlocks; }
  std::int64_t out_bytes() const { return 16LL * kReadThreads * read_blocks(); }

  double elapsed_ms(const std::function<void()>& enqueue) const {
    cuda::record(start_.get(), stream_.get());
    enqueue();
    cuda::record(stop_.get(), stream_.get());
    cuda::synchronise_event(stop_.get());
    return cuda::elapsed_ms(start_.get(), stop_.get());
  }

  /// The best of a few runs of `turns` turns, as many as take `least_ms`. The runs that find out
  /// how many are the warm-up.
  double seconds_per_turn(double least_ms, const std::function<void(std::int64_t)>& run) const {
    constexpr int kRuns = 5;
    run(1);  // loads the kernel, which between two events would count as its time
    cuda::synchronise(stream_.get());
    std::int64_t turns = 1;
    const auto best_ms = [&](int runs) {
      double best = std::numeric_limits<double>::infinity();
      for (int i = 0; i < runs; ++i) best = std::min(best, elapsed_ms([&] { run(turns); }));
      return best;
    };
    for (double ms = best_ms(2); ms < least_ms; ms = best_ms(2)) {
      const double factor = std::clamp(1.2 * least_ms / std::max(ms, 1e-3), 1.5, 16.0);
      turns = static_cast<std::int64_t>(static_cast<double>(turns) * factor) + 1;
    }
    return best_ms(kRuns) / 1e3 / static_cast<double>(turns);
  }

  int sm_count_ = attribute(cudaDevAttrMultiProcessorCount);
  int threads_per_sm_ = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  Stream stream_;
  Event start_, stop_;
};

}  // namespace

Peaks measure_peaks() {
  const Bench bench;
  Peaks peaks;
  peaks.fma_gflops = bench.fma<float>() / 1e9;
  peaks.fma_f64_gflops = bench.fma<double>() / 1e9;
  peaks.outer_product_gflops = bench.outer() / 1e9;
  peaks.shared_gbps = bench.shared() / 1e9;
  peaks.l2_read_gbps = bench.l2_reads() / 1e9;
  peaks.memory_gbps = bench.copy() / 1e9;
  return peaks;
}

}  // namespace tessera::bench::gpu
