// Elements of C that no thread stored to.
#pragma once

#include <optional>

#include "simt/gemm/judge.h"

namespace tessera::simt {

std::optional<Finding> find_unwritten(const Product& product);

}  // namespace tessera::simt
