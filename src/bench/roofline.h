// The least time a case can take on a device whose peaks were measured.
#pragma once

#include <string_view>

#include "bench/result.h"
#include "tessera/kernel.h"

namespace tessera::bench {

/// Peaks of a CPU or a GPU, measured in the same run; 0 where not measured.
struct Roofs {
  double fma_gflops = 0;  ///< FP32
  double fma_f64_gflops = 0;
  double outer_product_gflops = 0;
  double shared_gbps = 0;
  double l2_gbps = 0;      ///< GPU: L2. CPU: the L2 caches of the threads' cores
  double l3_gbps = 0;      ///< CPU
  double memory_gbps = 0;  ///< GPU: copy, read plus written. CPU: read
  // Bytes that the caches hold.
  double l2_bytes = 0, l3_bytes = 0;

  double fma(DType dtype) const { return dtype == DType::kF64 ? fma_f64_gflops : fma_gflops; }
};

/// What binds first, if nothing but peaks did.
struct Bound {
  double seconds = 0;
  std::string_view by;  ///< "compute", "l2", "l3" or "memory"
};

/// max(FLOPs / FMA peak, bytes / bandwidth), with the bandwidth of the memory, or, warm, of the
/// smallest cache that holds the operands.
Bound bound_of(const Case& c, CacheState cache, const Roofs& roofs);

/// The CPU's peaks for `threads` threads; FP64 only when asked for.
Roofs measure_cpu_roofs(int threads, bool with_f64);
/// Of these the multiply-adds alone.
Roofs measure_cpu_fma(int threads, bool with_f64);
/// A CUDA device's.
Roofs measure_cuda_roofs(const DeviceInfo& device);
/// The larger of each: another program may have slowed one of the two measurements.
Roofs best_of(const Roofs& a, const Roofs& b);

/// Whether a passed row's median is above the multiply-add peak by more than 5%.
bool beats_the_peak(const Row& row, const Roofs& roofs);
/// Makes such a row kImplausible.
void judge(Row& row, const Roofs& roofs);

}  // namespace tessera::bench
