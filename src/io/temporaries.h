// The temporaries of this process, in a form that a signal handler can remove.
#pragma once

#include <string>

namespace tessera::io {

/// Creates a file ".<stem>.<unique>.tmp" in the directory `directory_fd`, open for reading and
/// writing, with the permissions that the umask leaves; removes it again unless kept.
class Temporary {
 public:
  /// `path` is the output, for messages. Throws Error(kOutputFailure).
  Temporary(int directory_fd, const std::string& stem, const std::string& path);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  int fd() const { return fd_; }
  /// Gives the file the name `target` in the same directory, replacing what is there. Returns 0 or
  /// an errno value; then the temporary is still one.
  int rename_to(const std::string& target);

 private:
  int directory_fd_;
  int slot_ = -1;
  int fd_ = -1;
};

/// A folder in `parent` whose name begins with `stem`, for this user alone; removed with what is in
/// it.
class TemporaryFolder {
 public:
  /// Throws Error(kOutputFailure).
  TemporaryFolder(const std::string& parent, const std::string& stem);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int parent_fd_ = -1;
  int slot_ = -1;
};

}  // namespace tessera::io
