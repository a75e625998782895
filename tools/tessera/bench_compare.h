// `tessera bench --compare OLD NEW`.
#pragma once

#include <string>

namespace tessera::cli {

/// Prints what changed between two results files. Throws CheckFailed when a row that had passed is
/// incorrect in the new one, Error(kBadFile) when a file cannot be used.
int run_bench_compare(const std::string& old_file, const std::string& new_file, bool json);

}  // namespace tessera::cli
