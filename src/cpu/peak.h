// What this CPU can do at most, measured: the roofline that products are compared with.
#pragma once

#include <cstdint>

#include "tessera/precision.h"

namespace tessera {

/// GFLOP/s of independent fused multiply-adds in registers, with the instruction set in use, on
/// `threads` threads at once: the sum of the best that each of them did. kF32 or kF64, else
/// Error(kUnsupported). A fraction of a second.
double measure_fma_gflops(DType dtype, int threads);

/// GB/s (10^9 bytes) of reading memory that no cache holds, on `threads` threads at once. Best of a
/// few runs; takes up to 1 GiB of memory while it runs.
double measure_read_gbps(int threads);

/// The same over `bytes` of memory in all, read again and again: what the cache that holds them
/// gives.
double measure_read_gbps(int threads, std::int64_t bytes);

}  // namespace tessera
