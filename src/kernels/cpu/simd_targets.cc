#include "kernels/cpu/simd_targets.h"

namespace tessera {
std::string simd_target_name() { return "scalar"; }
std::vector<std::string> simd_target_names() { return {"scalar"}; }
void force_simd_target(const std::string&) {}
}  // namespace tessera
