// What a lone kernel with findings may be right at: other sizes, or another layout.
#pragma once

#include "simt/check.h"

namespace tessera::simt {

/// Notes that the kernel has no finding at multiples of its tile, where sizes were chosen for it,
/// or with column-major matrices. Both are found out by running it so.
void add_hints(Report& report, CheckedProgram& program);

}  // namespace tessera::simt
