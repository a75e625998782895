#include "bench/gnuplot.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "io/message.h"

extern char** environ;

namespace tessera::bench {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
/// A file without a name, which ends with this process whatever happens.
using Scratch = std::unique_ptr<std::FILE, Close>;

std::string errno_text(int error) { return std::generic_category().message(error); }

/// The actions of a posix_spawn, released at the end of the scope.
class Actions {
 public:
  Actions() { ::posix_spawn_file_actions_init(&actions_); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  void connect(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

bool is_larger(int fd, off_t most) {
  struct stat info;
  return ::fstat(fd, &info) == 0 && info.st_size > most;
}

/// Waits for a child that may hang or write without end. Returns its status as of waitpid, or
/// nothing when it had to be killed.
std::optional<int> wait_for(pid_t child, int out, int err) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kMostTime{60};
  constexpr off_t kMostBytes = off_t{64} << 20;
  const Clock::time_point end = Clock::now() + kMostTime;
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    const bool lost = ended < 0 && errno != EINTR;
    if (lost || Clock::now() >= end || is_larger(out, kMostBytes) || is_larger(err, kMostBytes)) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

/// How gnuplot ended, unless well: a line that goes on "gnuplot ...".
std::string run(const std::vector<const char*>& arguments, int in, int out, int err) {
  Actions actions;
  actions.connect(in, STDIN_FILENO);
  actions.connect(out, STDOUT_FILENO);
  actions.connect(err, STDERR_FILENO);
  std::vector<char*> argv;
  for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          ::posix_spawnp(&child, argv[0], actions.get(), nullptr, argv.data(), environ)) {
    return "could not be run: " + errno_text(error);
  }
  const std::optional<int> status = wait_for(child, out, err);
  if (!status) return "did not end within a minute and 64 MiB, and was stopped";
  if (WIFSIGNALED(*status)) return fmt::format("ended by signal {}", WTERMSIG(*status));
  return WEXITSTATUS(*status) == 0 ? "" : fmt::format("ended with status {}", WEXITSTATUS(*status));
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  constexpr std::size_t kMost = std::size_t{1} << 16;  // complaints, not pictures
  for (int c = std::fgetc(file); c != EOF && text.size() < kMost; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  return text;
}

/// The line of a complaint that says what; gnuplot prints the command and a caret before it.
std::string last_line(const std::string& text) {
  std::string last, line;
  for (const char c : text + "\n") {
    if (c != '\n') {
      line += c;
    } else if (line.find_first_not_of(' ') != line.npos) {
      last = line;
      line.clear();
    }
  }
  return last;
}

}  // namespace

std::string gnuplot_missing() {
  const std::string need = "charts need gnuplot 5 (Debian: gnuplot-nox)";
  const Scratch in(std::tmpfile()), out(std::tmpfile());
  if (!in || !out) return "no temporary file: " + errno_text(errno);
  const std::string fault =
      run({"gnuplot", "--version"}, ::fileno(in.get()), ::fileno(out.get()), ::fileno(out.get()));
  if (!fault.empty()) return fmt::format("{}: `gnuplot --version` {}", need, fault);
  const std::string version = content(out.get());
  const std::string name = "gnuplot ";
  if (version.rfind(name, 0) != 0 || std::atoi(version.c_str() + name.size()) < 5) {
    return fmt::format("{}: `gnuplot --version` says {}", need, io::in_quotes(last_line(version)));
  }
  return "";
}

std::string run_gnuplot(const std::string& script, int out_fd) {
  const Scratch in(std::tmpfile()), err(std::tmpfile());
  if (!in || !err) return "no temporary file: " + errno_text(errno);
  if (std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() ||
      std::fflush(in.get()) != 0) {
    return "the script could not be written: " + errno_text(errno);
  }
  std::rewind(in.get());
  const std::string fault =
      run({"gnuplot", "-d", "-"}, ::fileno(in.get()), out_fd, ::fileno(err.get()));
  if (!fault.empty()) {
    const std::string complaint = last_line(content(err.get()));
    return "gnuplot " + fault + (complaint.empty() ? "" : ": " + io::in_quotes(complaint));
  }
  return "";
}

}  // namespace tessera::bench
