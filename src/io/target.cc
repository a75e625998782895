#include "io/target.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "io/message.h"

namespace tessera::io {
namespace {

/// "a/b" is {"a", "b"}, "b" is {".", "b"}, "/b" is {"/", "b"}.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// What the last link of a chain points at, existing or not.
std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::string at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::array<char, PATH_MAX> text;
    const ssize_t length = ::readlink(at.c_str(), text.data(), text.size());
    if (length < 0) return at;
    const std::string link(text.data(), static_cast<std::size_t>(length));
    at = link[0] == '/' ? link : split_path(at).first + "/" + link;
  }
  output_failure(path, "too many levels of symbolic links");
}

}  // namespace

Target::Target(const std::string& path) {
  const auto [directory, name] = split_path(follow_links(path));
  if (name.empty() || name == "." || name == "..") output_failure(path, "is not a file name");
  name_ = name;
  directory_fd_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A directory may grant writing without reading; then only its sync is lost.
  if (directory_fd_ < 0 && errno == EACCES) {
    directory_fd_ = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  if (directory_fd_ < 0) {
    output_failure(path, "cannot open directory " + directory + ": " + errno_text(errno));
  }
  try {
    struct stat info;
    if (::fstatat(directory_fd_, name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return;
      output_failure(path, "cannot stat: " + errno_text(errno));
    }
    if (S_ISDIR(info.st_mode)) output_failure(path, "is a directory");
    if (!S_ISREG(info.st_mode)) {
      output_failure(path, "is not a regular file: an output is written beside it and renamed");
    }
    // rename() would replace a file that its owner protected from writing.
    if (::faccessat(directory_fd_, name_.c_str(), W_OK, AT_EACCESS) != 0) {
      output_failure(path, "is not writable: " + errno_text(errno));
    }
    mode_ = info.st_mode & 07777;
  } catch (...) {
    ::close(directory_fd_);
    throw;
  }
}

Target::~Target() { ::close(directory_fd_); }

}  // namespace tessera::io
