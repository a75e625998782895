// gnuplot, run as a program.
#pragma once

#include <string>

namespace tessera::bench {

/// Why charts cannot be drawn here: gnuplot 5 is not on PATH. Empty when it is.
std::string gnuplot_missing();

/// What gnuplot writes to its standard output for a script: the image. No shell is involved and no
/// start-up file is read. Throws Error(kOutputFailure) when it fails or draws nothing.
std::string run_gnuplot(const std::string& script);

}  // namespace tessera::bench
