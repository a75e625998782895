#include "exit_code.h"

int main(int argc, char** argv) { return tessera::cli::run_command_line(argc, argv); }
