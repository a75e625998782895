// Quantities for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/matrix.h"

namespace tessera::cli {

std::string format_bytes(double bytes);         ///< "12.9 MB": powers of 1000
std::string format_binary(std::int64_t bytes);  ///< "2 MiB": powers of 1024, for caches
std::string format_seconds(double seconds);     ///< "1.24 s", "3.10 ms", "45.2 us"
std::string_view layout_name(Layout layout);
/// Control characters as \xNN: file names may hold them.
std::string printable(std::string_view text);
/// True when words may be coloured on stdout: it is a terminal and NO_COLOR is not set.
bool colour_allowed();
/// "PASS" in green or "FAIL" in red, where colour is allowed.
std::string verdict(bool passed);

}  // namespace tessera::cli
