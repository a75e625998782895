#include "cpu/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/threads.h"
#include "tessera/error.h"
#include "tessera/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/peak.cc"
#include "cpu/simd_dispatch.h"
// After it: the set of targets.
#include <hwy/foreach_target.h>
// After it: this file is compiled once for each of them.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Twelve chains: more than latency times units of any CPU, and they fit 16 registers. Returns the
/// operations done; `sink` keeps the compiler from dropping them.
template <class T>
std::int64_t fma_chains(std::int64_t steps, double* sink) {
  const hn::ScalableTag<T> d;
  const auto x = hn::Set(d, static_cast<T>(0.5)), y = hn::Set(d, static_cast<T>(0.25));
  // Different starts: equal chains could be computed once.
  auto s0 = hn::Set(d, static_cast<T>(0));
  auto s1 = hn::Set(d, static_cast<T>(1));
  auto s2 = hn::Set(d, static_cast<T>(2));
  auto s3 = hn::Set(d, static_cast<T>(3));
  auto s4 = hn::Set(d, static_cast<T>(4));
  auto s5 = hn::Set(d, static_cast<T>(5));
  auto s6 = hn::Set(d, static_cast<T>(6));
  auto s7 = hn::Set(d, static_cast<T>(7));
  auto s8 = hn::Set(d, static_cast<T>(8));
  auto s9 = hn::Set(d, static_cast<T>(9));
  auto s10 = hn::Set(d, static_cast<T>(10));
  auto s11 = hn::Set(d, static_cast<T>(11));
  for (std::int64_t i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, x, y);
    s1 = hn::MulAdd(s1, x, y);
    s2 = hn::MulAdd(s2, x, y);
    s3 = hn::MulAdd(s3, x, y);
    s4 = hn::MulAdd(s4, x, y);
    s5 = hn::MulAdd(s5, x, y);
    s6 = hn::MulAdd(s6, x, y);
    s7 = hn::MulAdd(s7, x, y);
    s8 = hn::MulAdd(s8, x, y);
    s9 = hn::MulAdd(s9, x, y);
    s10 = hn::MulAdd(s10, x, y);
    s11 = hn::MulAdd(s11, x, y);
  }
  s0 = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  s6 = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  *sink = static_cast<double>(hn::GetLane(hn::Add(s0, s6)));
  return steps * 12 * 2 * static_cast<std::int64_t>(hn::Lanes(d));
}

std::int64_t fma_chains_f32(std::int64_t steps, double* sink) {
  return fma_chains<float>(steps, sink);
}
std::int64_t fma_chains_f64(std::int64_t steps, double* sink) {
  return fma_chains<double>(steps, sink);
}

/// The sum of `count` elements, a multiple of 64, aligned to a cache line.
double read_all(const float* x, std::int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (std::int64_t i = 0; i < count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::Load(d, x + i));
    s1 = hn::Add(s1, hn::Load(d, x + i + lanes));
    s2 = hn::Add(s2, hn::Load(d, x + i + 2 * lanes));
    s3 = hn::Add(s3, hn::Load(d, x + i + 3 * lanes));
  }
  return static_cast<double>(hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {

HWY_EXPORT(fma_chains_f32);
HWY_EXPORT(fma_chains_f64);
HWY_EXPORT(read_all);

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A task's own cache line, so that threads do not write to the same one.
struct alignas(64) Sink {
  double value = 0;
};

/// Shortest of `runs` runs of body(task) on `threads` threads, one task each, in seconds.
template <class Body>
double best_seconds(int runs, int threads, const Body& body) {
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    parallel_for(threads, threads, [&](std::int64_t task, int) { body(task); });
    best = std::min(best, seconds_since(start));
  }
  return best;
}

}  // namespace

double measure_fma_gflops(DType dtype, int threads) {
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("FMA peak: {} is not computed on the CPU; f32 and f64 are", to_string(dtype)));
  }
  threads = std::max(threads, 1);
  const auto chains = dtype == DType::kF32 ? simd_choose(HWY_DISPATCH_TABLE(fma_chains_f32))
                                           : simd_choose(HWY_DISPATCH_TABLE(fma_chains_f64));
  // A few milliseconds each: between the turns that another program gets on the same core, some of
  // a thread's pieces are whole. Each thread counts its best one.
  constexpr std::int64_t kSteps = 1'000'000;
  constexpr int kPieces = 48;
  std::vector<Sink> sinks(static_cast<std::size_t>(threads)), rates = sinks;
  parallel_for(threads, threads, [&](std::int64_t task, int) {
    const auto own = static_cast<std::size_t>(task);
    for (int piece = 0; piece < kPieces; ++piece) {
      const auto start = Clock::now();
      const auto operations = static_cast<double>(chains(kSteps, &sinks[own].value));
      rates[own].value = std::max(rates[own].value, operations / seconds_since(start));
    }
  });
  double total = 0;
  for (const Sink& rate : rates) total += rate.value;
  return total * 1e-9;
}

double measure_read_gbps(int threads) {
  // Four times the last cache where that fits in the bound, so that little of it survives a run.
  const DeviceInfo& cpu = cpu_device();
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const std::int64_t wanted = 4 * std::max(cpu.l3_bytes, cpu.l2_bytes * cpu.cores);
  return measure_read_gbps(threads, std::clamp(wanted, std::int64_t{64} << 20, kMost));
}

double measure_read_gbps(int threads, std::int64_t bytes) {
  threads = std::max(threads, 1);
  const std::int64_t share = std::max<std::int64_t>(bytes / 4 / threads / 64 * 64, 64);
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  const std::unique_ptr<float, Free> buffer(static_cast<float*>(
      ::operator new[](static_cast<std::size_t>(share * threads) * 4, std::align_val_t{64})));
  const auto read = simd_choose(HWY_DISPATCH_TABLE(read_all));
  std::vector<Sink> sinks(static_cast<std::size_t>(threads));
  // Pages nobody has written are all one page of zeros.
  parallel_for(threads, threads, [&](std::int64_t task, int) {
    std::fill_n(buffer.get() + task * share, share, 1.0F);
  });
  // Often enough that waking the threads does not count.
  constexpr std::int64_t kLeastBytes = std::int64_t{256} << 20;
  const std::int64_t passes = std::max<std::int64_t>(1, kLeastBytes / (share * threads * 4));
  const double seconds = best_seconds(3, threads, [&](std::int64_t task) {
    double& sum = sinks[static_cast<std::size_t>(task)].value;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      sum += read(buffer.get() + task * share, share);
    }
  });
  return static_cast<double>(share * threads * passes) * 4 / seconds * 1e-9;
}

}  // namespace tessera
#endif  // HWY_ONCE
