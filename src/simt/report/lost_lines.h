// Accesses whose line the optimiser has lost.
#pragma once

#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// Gives sites without a line that of the kernel's other sites of the same array, space and
/// direction, where these agree on one. The column stays unknown.
void find_lost_lines(std::vector<Site>& sites);

}  // namespace tessera::simt
