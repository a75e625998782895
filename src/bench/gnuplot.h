// gnuplot, run as a program.
#pragma once

#include <string>

namespace tessera::bench {

/// Why charts cannot be drawn here: gnuplot 5 is not on PATH. Empty when it is.
std::string gnuplot_missing();

/// Runs a script; what gnuplot writes to its standard output goes to the file `out_fd`. Returns
/// what went wrong, one line, or an empty text. No shell is involved and no start-up file is read.
std::string run_gnuplot(const std::string& script, int out_fd);

}  // namespace tessera::bench
