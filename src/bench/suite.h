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

/// Reads either kind; told apart by the first line that is not blank or a comment ('{' begins a
/// log line). Throws Error(kBadFile) when the file cannot be read or holds no case at all.
///
/// CSV: '#' comments, a header that names the columns M,N,K[,opA,opB[,count]] in any order and
/// letter case, then one case a line, dense and row-major, of type `dtype`. Log lines keep their
/// own type, layouts, leading dimensions, batch and scalars; equal calls become one case with
/// `calls` counted, in the order of first appearance. The memory space is left to the caller.
Suite read_suite(const std::string& path, DType dtype);

}  // namespace tessera::bench
