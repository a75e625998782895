// How many blocks of a kernel a multiprocessor holds: the rules of the CUDA C++ Programming Guide
// (compute capabilities) and of cuda_occupancy.h.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <string>

#include "simt/report/cubin.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

struct Multiprocessor {
  const char* architecture;
  int shared_kib, threads, blocks;
};
constexpr Multiprocessor kMultiprocessors[] = {
    {"sm_80", 164, 2048, 32}, {"sm_86", 100, 1536, 16},  {"sm_89", 100, 1536, 24},
    {"sm_90", 228, 2048, 32}, {"sm_100", 228, 2048, 32},
};
constexpr int kWarp = 32;
constexpr int kRegisters = 64 * 1024;
constexpr int kPartitions = 4;         // each with a quarter of the registers
constexpr int kRegisterGranule = 256;  // of a warp
constexpr std::int64_t kSharedGranule = 128;
constexpr std::int64_t kReservedShared = 1024;  // the driver's, in every block
constexpr int kMaxRegistersPerThread = 255;
constexpr int kMaxThreadsPerBlock = 1024;

const Multiprocessor* find(std::string architecture) {
  // sm_90a is sm_90 with instructions that do not carry over.
  while (!architecture.empty() && (architecture.back() < '0' || architecture.back() > '9'))
    architecture.pop_back();
  for (const Multiprocessor& m : kMultiprocessors)
    if (architecture == m.architecture) return &m;
  return nullptr;
}

template <class T>
T round_up(T x, T granule) {
  return (x + granule - 1) / granule * granule;
}

int blocks_by_registers(int registers, int warps) {
  if (registers <= 0) return INT_MAX;
  if (registers > kMaxRegistersPerThread) return 0;
  const int per_warp = round_up(registers * kWarp, kRegisterGranule);
  // A launch is checked as if its warps came in fours, one for each partition.
  if (per_warp * round_up(warps, kPartitions) > kRegisters) return 0;
  const int warps_held = kRegisters / kPartitions / per_warp * kPartitions;
  return warps_held / warps;
}

}  // namespace

void add_occupancy(Compiled& kernel, int threads, std::int64_t dynamic_shared_bytes) {
  kernel.blocks_per_sm = 0;
  kernel.occupancy = 0;
  kernel.limited_by.clear();
  const Multiprocessor* sm = find(kernel.architecture);
  if (sm == nullptr || threads <= 0) return;
  if (threads > kMaxThreadsPerBlock) {
    kernel.limited_by = "threads";
    return;
  }
  const int warps = (threads + kWarp - 1) / kWarp;
  const int max_warps = sm->threads / kWarp;
  const std::int64_t shared = std::max<std::int64_t>(kernel.static_shared_bytes, 0) +
                              std::max<std::int64_t>(dynamic_shared_bytes, 0);
  const std::int64_t by_shared =
      sm->shared_kib * std::int64_t{1024} / round_up(shared + kReservedShared, kSharedGranule);

  struct Limit {
    const char* name;
    std::int64_t blocks;
  };
  // In the order in which a reader can do something about them, should they tie.
  const std::array<Limit, 4> limits = {{
      {"threads", max_warps / warps},
      {"registers", blocks_by_registers(kernel.registers, warps)},
      {"shared memory", by_shared},
      {"blocks", sm->blocks},
  }};
  const Limit& least =
      *std::min_element(limits.begin(), limits.end(),
                        [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  kernel.blocks_per_sm = static_cast<int>(least.blocks);
  kernel.occupancy = static_cast<double>(least.blocks * warps) / max_warps;
  kernel.limited_by = least.name;
}

}  // namespace tessera::simt
