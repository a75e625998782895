// A store without a guard of its column runs over the end of C's row into the next, which other
// threads store to: seen as a race, but the guard is the fault.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// Turns races between stores of a kernel that stores to C alone, row-major with n columns, into
/// the overrun that they come from. Returns how many columns past the n it stores to; 0: none.
std::int64_t name_store_overrun(std::vector<Finding>& findings, const Launch& launch,
                                std::int64_t n);

}  // namespace tessera::simt
