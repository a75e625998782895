// Text written to a file whole or not at all.
#pragma once

#include <string>

#include "cli.h"

namespace tessera::cli {

/// Throws Error(kOutputFailure) when a file cannot be made there: before long work, not after it.
void check_output_file(const std::string& path);
/// Writes under a temporary name in the same directory and renames it. Throws
/// Error(kOutputFailure).
void write_text_file(const std::string& path, const std::string& text);
void write_json_file(const std::string& path, const Json& json);

}  // namespace tessera::cli
