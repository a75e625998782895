// The order of findings: causes before what follows from them.
#pragma once

#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// Launches that fail come first, then accesses outside of an array or its row, then races, and
/// the wrong result last; otherwise the order stays. What else is seen of an array at the line of a
/// misaligned access to it is dropped: the kernel does not get past that access.
std::vector<Finding> causes_first(std::vector<Finding> findings);

}  // namespace tessera::simt
