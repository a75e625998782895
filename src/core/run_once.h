// A described product computed now: what gemm is behind its views.
#pragma once

#include "tessera/plan.h"

namespace tessera {

/// Plan(desc, options) run once, with scratch memory of the library's own. Plans of the host's last
/// products are kept (recent_plans.h): for a small product to find its plan again, a description
/// for the host promises no more alignment than it must. Throws as gemm; C is untouched then.
void run_once(const GemmDesc& desc, const GemmOptions& options, double alpha, const void* a,
              const void* b, double beta, void* c);

}  // namespace tessera
