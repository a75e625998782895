// Hardware counters of a product, measured by NVIDIA's profiler `ncu` where there is one.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tessera::bench {

/// What was counted; or, without values, why not.
struct CounterRun {
  std::vector<std::pair<std::string, double>> values;
  std::string unavailable;  ///< one line; empty when there are values
};

/// Runs `self_program args...` under ncu and sums its counters over every kernel that it launches:
/// the caller makes it launch those of one product only. Ratios are means weighted by time, the
/// registers of a thread the largest. What a device or this ncu does not count is left out, after
/// other names for it were tried, each with a run of its own. ncu empties the caches before each
/// kernel and leaves the clocks alone.
///
///   global_load_requests, global_load_sectors    cp.async included
///   global_store_requests, global_store_sectors
///   l2_read_bytes, l2_write_bytes, hbm_read_bytes, hbm_write_bytes
///   shared_wavefronts, shared_load_conflicts, shared_store_conflicts
///   instructions, multiply_adds (of a warp), registers (of a thread), achieved_occupancy (0..1)
///   gpu_time_ns
///   stall_*    warps that wait for that reason, per instruction issued
///
/// ncu is the program that TESSERA_NCU names, or else the one on PATH, in /usr/local/cuda/bin or in
/// /opt/nvidia/nsight-compute.
CounterRun measure_counters(const std::string& self_program, const std::vector<std::string>& args);

/// The counters in what ncu printed; `exit_code` -1 when it was killed.
CounterRun read_counters(const std::string& out, const std::string& err, int exit_code);

}  // namespace tessera::bench
