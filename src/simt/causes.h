// The order of findings: causes before what follows from them.
#pragma once

#include <string>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// Failing launches come first, then inputs that are written, accesses outside of an array or its
/// row, barriers that not all threads reach, copies in flight, races, and the wrong result last;
/// but a wrong index that the result proves comes before the accesses that it leads to. What only
/// follows from another finding is dropped: what else is seen of an array at the line of a
/// misaligned access, races on an input that is written, races across a barrier that threads pass
/// by, or on a tile whose copy is in flight. A wrong result without a proven cause names the
/// finding that it comes with.
std::vector<Finding> causes_first(std::vector<Finding> findings);

/// Threads can be missing at a barrier because they returned or because it stands in a branch or
/// loop that they did not take: `source`, the text of `path`, tells. Calls the second
/// barrier-divergence.
void name_missing_threads(std::vector<Finding>& findings, const std::string& path,
                          const std::string& source);

}  // namespace tessera::simt
