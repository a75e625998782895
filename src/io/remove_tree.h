// Removing a folder with all that is in it.
#pragma once

namespace tessera::io {

/// Removes the folder `name` of `parent_fd`, and tries again for half a second while others still
/// write into it. Async-signal-safe: it takes no memory and no lock.
void remove_tree(int parent_fd, const char* name) noexcept;

}  // namespace tessera::io
