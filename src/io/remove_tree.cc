#include "io/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::io {
namespace {

constexpr int kDeepest = 32, kTries = 50;

/// Once through; what is in the way of it stays.
void remove_entries(int parent_fd, const char* name, int depth) noexcept {
  const int folder =
      ::openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (folder < 0) return;
  // Not readdir(), which takes memory. What getdents64 fills in is laid out as dirent64.
  alignas(dirent64) char entries[4096];
  long bytes = 0;
  while ((bytes = ::syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const char* inner = entry->d_name;
      if (std::strcmp(inner, ".") == 0 || std::strcmp(inner, "..") == 0) continue;
      if (::unlinkat(folder, inner, 0) == 0 || depth == kDeepest) continue;
      remove_entries(folder, inner, depth + 1);
      ::unlinkat(folder, inner, AT_REMOVEDIR);
    }
  }
  ::close(folder);
}

}  // namespace

void remove_tree(int parent_fd, const char* name) noexcept {
  for (int i = 0; i < kTries; ++i) {
    remove_entries(parent_fd, name, 0);
    if (::unlinkat(parent_fd, name, AT_REMOVEDIR) == 0) return;
    if (errno != ENOTEMPTY && errno != EEXIST) return;
    const timespec moment{0, 10'000'000};
    ::nanosleep(&moment, nullptr);
  }
}

}  // namespace tessera::io
