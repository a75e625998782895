// The loads and stores among the machine instructions of a kernel, and where code branches.
//
// From compute capability 7.0 on an instruction takes 16 bytes, two little-endian words: the low
// one holds the opcode in bits 0-11, the high one the width of an access in bits 9-11. A jump's
// distance, in units of 4 bytes, is in bits 34-81; from sm_90 on the lowest eight of its bits are
// in bits 16-23. NVIDIA does not document the encoding; it was read from what nvdisasm prints of
// kernels with known accesses and from their loops.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::simt {

enum class Memory { kShared, kGlobal, kLocal };

struct SassAccess {
  Memory memory = Memory::kGlobal;
  bool is_write = false;
  int bytes = 0;
};

inline constexpr std::uint64_t kSassBytes = 16;

/// Where the instructions do not simply follow one another.
struct SassBranch {
  bool ends_run = false;  ///< branches, calls, exits, barriers of warp or block
  std::optional<std::int64_t>
      relative;  ///< to the next instruction, of a jump whose target is known
};
SassBranch sass_branch(std::uint64_t low, std::uint64_t high, int sm);
/// It runs under no condition of its own.
bool sass_is_unconditional(std::uint64_t low);

/// None, one, or the two of an instruction that copies from global to shared memory. `sm` is the
/// compute capability as in sm_90. Atomics are left out: their width is not where a load's is.
std::vector<SassAccess> sass_accesses(std::uint64_t low, std::uint64_t high, int sm);

}  // namespace tessera::simt
