// The process; everything else is in the library tessera_verbs, where tests reach it.
#include <cstdlib>

#include "exit_code.h"

int main(int argc, char** argv) {
  // What hwloc has to say about odd firmware would stand between our lines.
  setenv("HWLOC_HIDE_ERRORS", "2", 0);
  return tessera::cli::run_command_line(argc, argv);
}
