// The loads and stores among the machine instructions of a kernel.
//
// From compute capability 7.0 on an instruction takes 16 bytes, two little-endian words: the low
// one holds the opcode in bits 0-11, the high one the width of an access in bits 9-11. NVIDIA does
// not document the encoding; it was read from what nvdisasm prints of kernels with known accesses.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::simt {

enum class Memory { kShared, kGlobal, kLocal };

struct SassAccess {
  Memory memory = Memory::kGlobal;
  bool is_write = false;
  int bytes = 0;
};

inline constexpr std::uint64_t kSassBytes = 16;

/// None, one, or the two of an instruction that copies from global to shared memory. `sm` is the
/// compute capability as in sm_90. Atomics are left out: their width is not where a load's is.
std::vector<SassAccess> sass_accesses(std::uint64_t low, std::uint64_t high, int sm);

}  // namespace tessera::simt
