// TESSERA_LOG=calls: one JSON line per product on stderr, or appended to FILE with calls:FILE.
#pragma once

#include "tessera/plan.h"

namespace tessera {

/// Writes the line when logging is on; costs one load when it is not.
void log_call(const Plan& plan, const GemmDesc& desc, double alpha, double beta);

}  // namespace tessera
