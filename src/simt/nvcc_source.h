// The source as nvcc gets it.
#pragma once

#include <string>
#include <vector>

#include "simt/check.h"

namespace tessera::simt {

struct NvccSource {
  std::string path;
  std::vector<std::string> flags;
};
/// With the driver (`appended`) behind it, which instantiates a template; as it is without one.
NvccSource nvcc_source(const CheckOptions& options, const std::string& source,
                       const std::string& appended, const std::string& folder);

}  // namespace tessera::simt
