#include "bench/counters_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tessera/error.h"

extern char** environ;

namespace tessera::bench {
namespace {

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(ErrorCode::kUnsupported, program + ": cannot be run: " + std::strerror(error));
}

/// A file in memory for one stream of output: unlike a pipe it takes any amount with no reader.
class Sink {
 public:
  explicit Sink(const std::string& program) : fd_(memfd_create("tessera-output", MFD_CLOEXEC)) {
    if (fd_ < 0) fail(program, errno);
  }
  ~Sink() { close(fd_); }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  int fd() const { return fd_; }
  std::string text() const {
    std::string text;
    char buffer[1 << 14];
    ssize_t count = 0;
    while ((count = pread(fd_, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int fd_;
};

class FileActions {
 public:
  FileActions(const Sink& out, const Sink& err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out.fd(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err.fd(), STDERR_FILENO);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Printed run_program(const std::vector<std::string>& words) {
  const std::string& program = words.front();
  const Sink out(program), err(program);
  const FileActions actions(out, err);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), actions.get(), nullptr, arguments.data(), environ);
  if (error != 0) fail(program, error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(program, errno);
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.text(), err.text()};
}

}  // namespace tessera::bench
