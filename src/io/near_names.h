// Names that somebody may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::io {

/// At most `most` of `names` that contain `wanted`, are contained in it, or lie within a third of
/// its length (at least 1) of it in edit distance; nearest first, then in alphabetical order.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names,
                                    std::size_t most);

}  // namespace tessera::io
