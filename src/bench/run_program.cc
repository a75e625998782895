#include "bench/run_program.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "bench/child_group.h"
#include "io/message.h"

extern char** environ;

namespace tessera::bench {
namespace {

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(ErrorCode::kUnsupported, program + ": cannot be run: " + io::errno_text(error));
}

/// A file in memory for one stream: unlike a pipe it takes any amount with nobody at the other end.
class Stream {
 public:
  explicit Stream(const std::string& program, std::string_view text = "")
      : fd_(memfd_create("tessera-stream", MFD_CLOEXEC)) {
    if (fd_ < 0) fail(program, errno);
    // Places are given, so that the program begins to read at the first byte.
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count =
          pwrite(fd_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (count < 0 && errno != EINTR) {
        const int error = errno;
        close(fd_);
        fail(program, error);
      }
      if (count > 0) done += static_cast<std::size_t>(count);
    }
  }
  ~Stream() { close(fd_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int fd() const { return fd_; }
  std::int64_t size() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? info.st_size : 0;
  }
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
  FileActions(const Stream& in, const Stream& out, const Stream& err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, in.fd(), STDIN_FILENO);
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

/// Waits for the child; true when it passed a limit and was killed for that.
bool wait_for(const std::string& program, const ChildGroup& child, const ProgramLimits& limits,
              const Stream& out, const Stream& err, int* status) {
  using Clock = std::chrono::steady_clock;
  const bool limited = limits.seconds > 0 || limits.bytes > 0;
  const auto start = Clock::now();
  while (true) {
    const pid_t ended = waitpid(child.pid(), status, limited ? WNOHANG : 0);
    if (ended == child.pid()) return false;
    if (ended < 0 && errno != EINTR) fail(program, errno);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::int64_t bytes = std::max(out.size(), err.size());
    if ((limits.seconds > 0 && seconds > limits.seconds) ||
        (limits.bytes > 0 && bytes > limits.bytes)) {
      break;
    }
    if (limited) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  child.kill();
  while (waitpid(child.pid(), status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

/// Whether one of the variables has the name of this one.
bool is_set(const std::vector<std::string>& variables, std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('=') + 1);
  return std::any_of(variables.begin(), variables.end(),
                     [&](const std::string& v) { return v.starts_with(name); });
}

}  // namespace

Printed run_program(const std::vector<std::string>& words, std::string_view input,
                    const ProgramLimits& limits, const std::vector<std::string>& variables) {
  const std::string& program = words.front();
  const Stream in(program, input), out(program), err(program);
  const FileActions actions(in, out, err);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  std::vector<std::string> added = variables;
  std::vector<char*> environment;
  for (std::string& variable : added) environment.push_back(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_set(added, *variable)) environment.push_back(*variable);
  }
  environment.push_back(nullptr);

  wait_if_ending();
  const ChildGroup child(program.c_str(), actions.get(), arguments.data(), environment.data());
  if (child.error() != 0) fail(program, child.error());
  int status = 0;
  const bool was_stopped = wait_for(program, child, limits, out, err, &status);
  wait_if_ending();
  Printed printed;
  printed.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  printed.was_stopped = was_stopped;
  // Of an endless stream nothing is worth keeping.
  printed.out = was_stopped ? "" : out.text();
  printed.err = was_stopped ? "" : err.text();
  return printed;
}

std::string last_line(std::string_view text, std::string_view mark) {
  std::string last;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty() && line.starts_with(mark)) last = line.substr(mark.size());
    at = end + 1;
  }
  return last.substr(std::min(last.find_first_not_of(' '), last.size()));
}

}  // namespace tessera::bench
