// TESSERA_LOG=calls: one JSON line per product on stderr, or appended to FILE with calls:FILE.
#pragma once

#include "tessera/plan.h"

namespace tessera {

/// Throws Error(kInvalidArgument) when TESSERA_LOG has a value that cannot be followed: for calls
/// of several products, before the first of them.
void check_call_log();

/// Writes the line when logging is on; costs one load when it is not. Throws as check_call_log; a
/// line for which there is no memory is left out.
void log_call(const Plan& plan, const GemmDesc& desc, double alpha, double beta);

}  // namespace tessera
