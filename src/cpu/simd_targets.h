// Which of the instruction sets compiled in is used. Chosen once, by the CPU or by TESSERA_SIMD.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tessera {

/// The instruction set in use, by Highway's name: e.g. "AVX3", "AVX2", "NEON", "SCALAR".
///
/// TESSERA_SIMD=NAME in the environment, read at the first use, forces one: a name of
/// simd_target_names() or one of "scalar", "avx2", "avx512", "neon", in any case. Throws
/// Error(kInvalidArgument), which lists what can run, when this build or CPU lacks it.
std::string simd_target_name();
/// Those that this build has and this CPU can run, best first. Constant.
const std::vector<std::string>& simd_target_names();
/// Forces one for the whole process ("" for the best), for tests and tools; takes effect at the
/// next launch of a kernel. Throws as simd_target_name() does; then nothing changed.
void force_simd_target(const std::string& name);

/// Position in simd_target_names() of the one in use.
std::size_t simd_target_position();

}  // namespace tessera
