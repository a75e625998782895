// From what the caller says (views in any layout, ops) to the form every kernel sees.
#pragma once

#include "tessera/plan.h"

namespace tessera {

struct Canonical {
  Problem problem;
  /// C was column-major: C^T = op(B)^T op(A)^T is computed, so canonical A is the caller's B.
  bool swapped = false;
};

/// Checks shapes, leading dimensions, batch strides and promises; throws Error naming the argument,
/// its value and the rule. Looks at no pointer.
Canonical canonicalise(const GemmDesc& desc, const GemmOptions& options);

/// Throws Error(kInvalidArgument) when C shares an element with A or B. Exact when both have the
/// same pitch (blocks of one matrix); otherwise any overlap of their address ranges is refused.
void refuse_aliases(const GemmDesc& desc, const void* a, const void* b, const void* c);

/// Largest power of two, at most 256, that divides `bytes`.
inline int alignment_of(std::uintptr_t bytes) {
  const std::uintptr_t capped = bytes | 256;
  return static_cast<int>(capped & -capped);
}

}  // namespace tessera
