// What every file with Highway code includes first: the instruction sets compiled, and the choice
// of one of their functions. (src/cpu/simd_targets.h says which one is in use.)
#pragma once

// Each set costs a compilation of every kernel, so near duplicates are left out: floating-point
// GEMM gains nothing from the later AVX-512, SSSE3 and AES subsets. SVE and RISC-V vectors have no
// fixed size, which the register tile needs. Names an older Highway lacks are 0 in its #if, and
// are defined below for its C++.
#define HWY_DISABLED_TARGETS                                                         \
  (HWY_SSE2 | HWY_SSSE3 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_AVX10_2 | \
   HWY_AVX10_2_512 | HWY_NEON_BF16 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#include <hwy/detect_targets.h>

#ifndef HWY_SSE2
#define HWY_SSE2 0
#endif
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0
#endif
#ifndef HWY_AVX10_2
#define HWY_AVX10_2 0
#endif
#ifndef HWY_AVX10_2_512
#define HWY_AVX10_2_512 0
#endif
#ifndef HWY_NEON_BF16
#define HWY_NEON_BF16 0
#endif

// Before a loop over accumulators: they stay in registers only when every index into them is a
// constant.
#ifdef __clang__
#define TESSERA_UNROLL _Pragma("unroll")
#else
#define TESSERA_UNROLL _Pragma("GCC unroll 32")
#endif

#include <cstddef>

namespace tessera {

/// Index of the instruction set in use in the tables that HWY_EXPORT makes. Throws as
/// simd_target_name() does.
std::size_t simd_table_index();

/// The function for the instruction set in use. A build with one set has a table of one.
/// Highway's own choice is not used: it is one for the whole process, other libraries included.
template <class Function, std::size_t kTargets>
Function simd_choose(Function const (&table)[kTargets]) {
  return table[kTargets == 1 ? 0 : simd_table_index()];
}

}  // namespace tessera
