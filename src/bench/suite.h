// Cases from files: suites in CSV, and lines that TESSERA_LOG=calls wrote for a real program.
#pragma once

#include <string>
#include <vector>

#include "bench/case.h"

namespace tessera::bench {

struct Suite {
  std::string name;  ///< file name without folder and suffix
  std::vector<Case> cases;
  /// One line for each that could not be read: "square.csv:4: \"64,abc,64\": N must be ...".
  std::vector<std::string> faults;
};

/// The file of a suite: `name_or_path` when there is such a file, else NAME.csv in the first of
/// these folders that has it: $TESSERA_SUITES, bench/suites of the source tree that this program
/// was built from, share/tessera/suites of the prefix that it was installed under. Throws
/// Error(kBadFile) that lists the suites there are.
std::string find_suite(const std::string& name_or_path);

/// Reads either kind; told apart by the first line that is not blank or a comment ('{' begins a
/// log line). Throws Error(kBadFile) when the file cannot be read or holds no case at all.
///
/// CSV: '#' comments, a header that names the columns M,N,K[,opA,opB[,count]] in any order and
/// letter case, then one case a line, dense and row-major, of type `dtype`. Log lines keep their
/// own type, layouts, leading dimensions, batch and scalars; equal calls become one case with
/// `calls` counted, in the order of first appearance. Calls without a product to time (a size or
/// alpha of 0, a scalar that is not finite) are faults. After 50 faults the rest are only counted,
/// in one last line: a log taken from stderr may hold much else. The memory space is left to the
/// caller.
Suite read_suite(const std::string& path, DType dtype);

}  // namespace tessera::bench
