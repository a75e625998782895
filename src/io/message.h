// Wording of refusals: one line each, whatever bytes the file holds.
#pragma once

#include <string>
#include <string_view>

#include "tessera/error.h"

namespace tessera::io {

/// Throws Error(kBadFile) "<file>: <what>".
[[noreturn]] void bad_file(const std::string& file, const std::string& what);
/// Throws Error(kOutputFailure) "<file>: <what>".
[[noreturn]] void output_failure(const std::string& file, const std::string& what);
/// The system's text for an errno value; thread-safe.
std::string errno_text(int error);
/// The text in double quotes with everything but printable ASCII escaped, shortened when long.
std::string in_quotes(std::string_view text);

}  // namespace tessera::io
