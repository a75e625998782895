// Which of the instruction sets compiled in is used. Chosen once, by the CPU or by TESSERA_SIMD.
#pragma once

#include <string>
#include <vector>

namespace tessera {

/// The instruction set in use, by Highway's name: e.g. "AVX3_SPR", "AVX2", "NEON", "SCALAR".
/// TESSERA_SIMD=NAME in the environment forces one; Error when this CPU or build lacks it.
std::string simd_target_name();
/// Those that this build has and this CPU can run, best first.
std::vector<std::string> simd_target_names();
/// Forces one for the whole process ("" for the best), for tests and tools.
void force_simd_target(const std::string& name);

}  // namespace tessera
