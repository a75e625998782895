// Ctrl-C, SIGTERM and the loss of a mapped file, without leaving anything behind.
#pragma once

#include <string>

namespace tessera::cli {

/// From now on SIGINT, SIGTERM and SIGHUP end the programs that run for this one, remove unfinished
/// outputs and temporary folders, print one line and end the process with kSignalled + the signal's
/// number at once, wherever its threads are. SIGBUS, which a mapped input raises
/// when somebody shortens it, ends it with kBadInput in the same way. SIGPIPE, SIGQUIT, SIGXCPU and
/// SIGALRM clean up likewise and then do what they always do.
void catch_interrupts(const std::string& verb);

/// Tells the handler that a progress line stands on stderr and must be wiped first.
void set_progress_visible(bool visible);

}  // namespace tessera::cli
