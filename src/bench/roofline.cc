#include "bench/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/backend.h"
#include "cpu/peak.h"
#include "tessera/kernel.h"

namespace tessera::bench {
namespace {

struct Level {
  std::string_view name;
  double gbps;
};

Level level_of(double bytes, CacheState cache, const Roofs& roofs) {
  if (cache == CacheState::kWarm) {
    if (roofs.l2_gbps > 0 && bytes <= roofs.l2_bytes) return {"l2", roofs.l2_gbps};
    if (roofs.l3_gbps > 0 && bytes <= roofs.l3_bytes) return {"l3", roofs.l3_gbps};
  }
  return {"memory", roofs.memory_gbps};
}

}  // namespace

Bound bound_of(const Case& c, CacheState cache, const Roofs& roofs) {
  const double compute_s =
      roofs.fma(c.desc.dtype) > 0 ? flops_of(c) / roofs.fma(c.desc.dtype) / 1e9 : 0;
  const Level level = level_of(bytes_of(c), cache, roofs);
  const double bytes_s = level.gbps > 0 ? bytes_of(c) / level.gbps / 1e9 : 0;
  return compute_s >= bytes_s ? Bound{compute_s, "compute"} : Bound{bytes_s, level.name};
}

Roofs measure_cpu_fma(int threads, bool with_f64) {
  Roofs roofs;
  roofs.fma_gflops = measure_fma_gflops(DType::kF32, threads);
  if (with_f64) roofs.fma_f64_gflops = measure_fma_gflops(DType::kF64, threads);
  return roofs;
}

Roofs measure_cpu_roofs(int threads, bool with_f64) {
  const DeviceInfo& cpu = cpu_device();
  Roofs roofs = measure_cpu_fma(threads, with_f64);
  roofs.memory_gbps = measure_read_gbps(threads);
  const int cores = std::min(threads, cpu.cores);
  roofs.l2_bytes = static_cast<double>(cpu.l2_bytes) * cores;
  roofs.l3_bytes = static_cast<double>(cpu.l3_bytes);
  // Half of each cache, so that nothing else in it gets in the way.
  if (cpu.l2_bytes > 0) roofs.l2_gbps = measure_read_gbps(threads, cpu.l2_bytes * cores / 2);
  if (cpu.l3_bytes > 2 * cpu.l2_bytes * cores) {
    roofs.l3_gbps =
        measure_read_gbps(threads, std::min(cpu.l3_bytes / 2, 4 * cpu.l2_bytes * cores));
  }
  return roofs;
}

Roofs measure_cuda_roofs(const DeviceInfo& device) {
  const cuda::DeviceGuard guard(device.index);
  const gpu::Peaks peaks = gpu::measure_peaks();
  Roofs roofs;
  roofs.fma_gflops = peaks.fma_gflops;
  roofs.fma_f64_gflops = peaks.fma_f64_gflops;
  roofs.outer_product_gflops = peaks.outer_product_gflops;
  roofs.shared_gbps = peaks.shared_gbps;
  roofs.l2_gbps = peaks.l2_read_gbps;
  roofs.memory_gbps = peaks.memory_gbps;
  roofs.l2_bytes = static_cast<double>(device.l2_cache_bytes);
  return roofs;
}

Roofs best_of(const Roofs& a, const Roofs& b) {
  Roofs best;
  for (const auto member :
       {&Roofs::fma_gflops, &Roofs::fma_f64_gflops, &Roofs::outer_product_gflops,
        &Roofs::shared_gbps, &Roofs::l2_gbps, &Roofs::l3_gbps, &Roofs::memory_gbps,
        &Roofs::l2_bytes, &Roofs::l3_bytes}) {
    best.*member = std::max(a.*member, b.*member);
  }
  return best;
}

bool beats_the_peak(const Row& row, const Roofs& roofs) {
  constexpr double kTolerance = 1.05;  // of the peak's own measurement
  const double peak = roofs.fma(row.what.desc.dtype);
  if (row.disposition != Disposition::kPassed || peak <= 0) return false;
  return flops_of(row.what) / row.median_s() / 1e9 > kTolerance * peak;
}

void judge(Row& row, const Roofs& roofs) {
  if (!beats_the_peak(row, roofs)) return;
  row.detail = fmt::format(
      "{:.4g} GFLOP/s is above the multiply-add peak measured in this run, {:.4g}: timing or peak "
      "is wrong",
      flops_of(row.what) / row.median_s() / 1e9, roofs.fma(row.what.desc.dtype));
  row.disposition = Disposition::kImplausible;
  row.seconds.clear();
}

}  // namespace tessera::bench
