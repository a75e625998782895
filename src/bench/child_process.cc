#include "bench/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <system_error>

#include "io/message.h"

namespace tessera::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Between what the work printed and its result: no text holds it.
constexpr char kReturned = '\1';
constexpr char kThrew = '\2';

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void be_child(int out, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a signal that ends the parent ends the work
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // The parent's handlers clean up after the parent, and say so.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGBUS, SIGPIPE, SIGQUIT, SIGXCPU, SIGALRM}) {
    std::signal(signal, SIG_DFL);
  }
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  try {
    write_all(out, kReturned + work());
  } catch (const std::exception& e) {
    write_all(out, kThrew + std::string(e.what()));
  } catch (...) {
    write_all(out, kThrew + std::string("threw an exception of unknown type"));
  }
  _exit(0);
}

/// All that comes until the other end is closed; false when time runs out before that.
bool read_until(int in, Clock::time_point end, std::string& text) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  char buffer[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{in, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t n = read(in, buffer, sizeof buffer);
    if (n == 0) return true;
    if (n > 0 && text.size() < kMost) text.append(buffer, static_cast<std::size_t>(n));
  }
}

std::string how_it_ended(int status, const std::string& printed) {
  std::string text = WIFSIGNALED(status) ? fmt::format("ended by signal {} ({})", WTERMSIG(status),
                                                       strsignal(WTERMSIG(status)))
                                         : fmt::format("exited with code {}", WEXITSTATUS(status));
  const std::string line = printed.substr(0, printed.find('\n'));
  if (!line.empty()) text += ", saying " + io::in_quotes(line);
  return text;
}

}  // namespace

ChildResult in_child_process(double at_most_s, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {false, "no pipe: " + io::errno_text(errno)};
  const pid_t child = fork();
  if (child < 0) {
    const std::string why = "no child process: " + io::errno_text(errno);
    close(ends[0]);
    close(ends[1]);
    return {false, why};
  }
  if (child == 0) {
    close(ends[0]);
    be_child(ends[1], work);
  }
  close(ends[1]);
  std::string text;
  const auto end = Clock::now() + std::chrono::milliseconds(static_cast<long>(at_most_s * 1000));
  const bool finished = read_until(ends[0], end, text);
  close(ends[0]);
  if (!finished) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) return {false, fmt::format("did not finish within {} s", at_most_s)};
  const std::size_t mark = text.find_last_of({kReturned, kThrew});
  if (mark == std::string::npos || status != 0) return {false, how_it_ended(status, text)};
  return {text[mark] == kReturned, text.substr(mark + 1)};
}

}  // namespace tessera::bench
