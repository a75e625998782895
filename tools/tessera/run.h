// The command line as one function.
#pragma once

namespace tessera::cli {

/// Parses and runs; every error becomes one line on stderr and an exit code.
int run_command_line(int argc, char** argv);

}  // namespace tessera::cli
