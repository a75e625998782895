// How long one load takes, from asking to having: a single thread follows a chain of indices.
#include <cuda_runtime.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "bench/gpu.h"
#include "bench/gpu_handles.h"
#include "core/backend.h"
#include "cuda/check.h"
#include "cuda/launch.cuh"

namespace tessera::bench::gpu {
namespace {

constexpr int kSteps = 1024;
constexpr int kLineWords = 32;  // 128 bytes: every step a line that no other step touches

/// Cycles of `kSteps` loads, each at the place that the one before it gave.
template <class Load>
__device__ void follow(int at, std::int64_t* g_cycles, const Load& load) {
  const std::int64_t start = clock64();
#pragma unroll 16
  for (int step = 0; step < kSteps; ++step) at = load(at);
  const std::int64_t end = clock64();
  // The place where the chain ended is needed, so that no load can be left out.
  g_cycles[0] = end - start + (at < 0 ? 1 : 0);
}

__global__ void shared_chain(std::int64_t* g_cycles) {
  constexpr int kPlaces = 1024;
  __shared__ int s_next[kPlaces];
  for (int i = 0; i < kPlaces; ++i) s_next[i] = (i + kLineWords + 1) % kPlaces;
  follow(0, g_cycles, [&](int at) { return s_next[at]; });
  follow(0, g_cycles, [&](int at) { return s_next[at]; });
}

/// Through L2, past L1. The first pass brings the lines into L2, where they fit.
__global__ void global_chain(const int* g_next, int passes, std::int64_t* g_cycles) {
  for (int pass = 0; pass < passes; ++pass) {
    follow(0, g_cycles, [&](int at) { return __ldcg(g_next + at); });
  }
}

/// A ring through `lines` lines in random order, so that nothing can be fetched ahead.
std::vector<int> random_ring(int lines) {
  std::vector<int> order(static_cast<std::size_t>(lines));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  std::vector<int> next(static_cast<std::size_t>(lines) * kLineWords, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    next[static_cast<std::size_t>(order[i]) * kLineWords] =
        order[(i + 1) % order.size()] * kLineWords;
  }
  return next;
}

/// Median of a few launches, in cycles of one load.
template <class Launch>
double cycles(const DeviceMemory& out, const Launch& launch) {
  std::vector<double> seen;
  for (int run = 0; run < 9; ++run) {
    launch();
    std::int64_t total = 0;
    TESSERA_CUDA_CHECK(cudaMemcpy(&total, out.as<void>(), sizeof total, cudaMemcpyDeviceToHost));
    seen.push_back(static_cast<double>(total) / kSteps);
  }
  std::nth_element(seen.begin(), seen.begin() + 4, seen.end());
  return seen[4];
}

}  // namespace

Latencies measure_latencies() {
  const DeviceMemory out(sizeof(std::int64_t));
  const auto one = dim3(1);
  Latencies latencies;
  latencies.shared_cycles =
      cycles(out, [&] { cuda::launch(shared_chain, one, one, nullptr, out.as<std::int64_t>()); });
  const auto global = [&](int lines, int passes, const auto& before) {
    const std::vector<int> ring = random_ring(lines);
    const std::size_t bytes = ring.size() * sizeof(int);
    const DeviceMemory next(static_cast<std::int64_t>(bytes));
    TESSERA_CUDA_CHECK(cudaMemcpy(next.as<void>(), ring.data(), bytes, cudaMemcpyHostToDevice));
    return cycles(out, [&] {
      before();
      cuda::launch(global_chain, one, one, nullptr, next.as<const int>(), passes,
                   out.as<std::int64_t>());
    });
  };
  latencies.l2_cycles = global(kSteps, 3, [] {});
  // What L2 holds is replaced by something else before each chain.
  int device = 0, l2_bytes = 0;
  TESSERA_CUDA_CHECK(cudaGetDevice(&device));
  TESSERA_CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
  const std::size_t flood_bytes =
      std::max<std::size_t>(64U << 20, 4 * static_cast<std::size_t>(l2_bytes));
  const DeviceMemory flood(static_cast<std::int64_t>(flood_bytes));
  latencies.memory_cycles = global(
      64 * kSteps, 1, [&] { TESSERA_CUDA_CHECK(cudaMemset(flood.as<void>(), 0, flood_bytes)); });
  return latencies;
}

}  // namespace tessera::bench::gpu
