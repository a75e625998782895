// Which branches and loops a place in a source stands in.
#pragma once

#include <string>

namespace tessera::simt {

struct Surroundings {
  bool is_known = false;          ///< the place was found in the body of a function
  bool function_returns = false;  ///< a return stands in the function before the place
  std::string divided_by;         ///< the innermost if or loop that differs between threads:
                                  ///< "if (t < o)"; empty: none
};

/// Of the first word at `line` and, unless it is 0, `column` of a CUDA C++ text.
Surroundings surroundings(const std::string& source, int line, int column);

}  // namespace tessera::simt
