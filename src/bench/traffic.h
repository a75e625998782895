// What a kernel asks of the memory system, counted from its algorithm: to be held against the
// counters of the hardware.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/kernel.h"

namespace tessera::bench {

/// Counts of one product, by the rules of docs/ladder: whole tiles, operands aligned to 32 bytes.
/// A tile that hangs over an edge counts as a full one. Of the split last tiles of warp_tiled
/// neither the partial sums nor the kernel that adds them are counted, of packed not the packing,
/// of the epilogue nothing.
///
///   global_load_requests  loads, and copies to shared memory, of a warp of A and B
///   global_load_sectors   pieces of 32 bytes that these touch
///   shared_wavefronts     passes through shared memory, reads and writes; where 16-byte reads
///                         share vectors, as few as the layout allows
///   multiply_adds         of a warp
///   flops_per_byte        operations for each byte of those sectors
///
/// Empty for families it does not know and for the CPU.
std::vector<std::pair<std::string, double>> analytic_counts(const Kernel& kernel,
                                                            const Problem& problem);

}  // namespace tessera::bench
