// The plans of some of a thread's last products on the host: a program mostly repeats its shapes,
// and for a small product choosing a kernel takes longer than running it.
#pragma once

#include "tessera/plan.h"

namespace tessera {

/// Plan(desc, options), which may be one of an earlier call; valid until the calling thread's next
/// call. Only for the host, with options that name no kernel and ask for nothing special.
const Plan& recent_plan(const GemmDesc& desc, const GemmOptions& options);

/// Whether recent_plan takes it.
bool may_repeat(const GemmDesc& desc, const GemmOptions& options);

}  // namespace tessera
