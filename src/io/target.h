// Where an output goes: the file behind links, its directory, and what it replaces.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tessera::io {

/// Owns a directory descriptor, so that a change of the working directory does not move the output.
class Target {
 public:
  /// Follows symbolic links, dangling ones too. Throws Error(kOutputFailure) when the directory is
  /// missing or the target is a directory, a device, or a file without write permission.
  explicit Target(const std::string& path);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  int directory_fd() const { return directory_fd_; }
  const std::string& name() const { return name_; }  ///< within the directory
  /// Permissions of the file that is there, if any.
  std::optional<mode_t> mode() const { return mode_; }

 private:
  std::string name_;
  int directory_fd_ = -1;
  std::optional<mode_t> mode_;
};

}  // namespace tessera::io
