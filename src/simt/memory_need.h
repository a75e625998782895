// Whether a lone kernel's matrices fit into this machine's memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tessera::simt {

/// What a run of a product keeps, roughly.
struct MemoryNeed {
  std::array<std::int64_t, 3> sizes;  ///< M, N, K
  std::int64_t element = 4, element_c = 4;
  bool has_d = false;
  bool counts = false;             ///< a second run beside the first
  std::uint64_t max_accesses = 0;  ///< a product of more is checked by samples
};
double bytes_needed(const MemoryNeed& need);

/// What programs may still take: of the system, or of the control group if that is less. 0 when
/// the system does not say.
double bytes_available();

/// Throws Error(kOutOfMemory) naming --gemm when `available` bytes are too few.
void check_memory(const MemoryNeed& need, double available);

}  // namespace tessera::simt
