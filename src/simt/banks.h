// Banks of shared memory: how many passes a warp's request takes.
#pragma once

#include <cstdint>

namespace tessera::simt {

struct BankCount {
  unsigned wavefronts = 0;  ///< passes, each of at most one word from each of 32 banks
  unsigned ideal = 0;       ///< those that the request takes without a conflict
  unsigned degree = 0;      ///< most words of one bank in one group of lanes
};

/// One request of 32 lanes for `bytes` (1 to 16) each; lanes that are not active take no part.
///
/// Lanes that want the same word share it. A request of up to 4 bytes a lane is served whole, one
/// of 8 by half warps, one of 16 by quarters. Two neighbouring groups go together when in both each
/// lane wants what its neighbour (lane ^ 1), or else what the next but one (lane ^ 2), wants; of
/// quarters, the first two and the last two. Measured on an H200 with the patterns of
/// tests/check/hardware/shared_patterns.cu.
BankCount count_banks(const std::uintptr_t* addresses, const bool* active, unsigned bytes);

}  // namespace tessera::simt
