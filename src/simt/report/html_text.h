// Text in HTML; also for the pages of the command line.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Safe as text and inside quoted attributes. Control characters, which no document may hold, are
/// spelled out: \x1b.
std::string html_escaped(std::string_view text);

}  // namespace tessera
