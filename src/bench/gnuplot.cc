#include "bench/gnuplot.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <vector>

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

/// Exit status of gnuplot, or an errno value as a negative number when it could not be run.
int spawn(const std::vector<const char*>& arguments, int in, int out, int err) {
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
    return -error;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
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
  const int status =
      spawn({"gnuplot", "--version"}, ::fileno(in.get()), ::fileno(out.get()), ::fileno(out.get()));
  if (status < 0) return fmt::format("{}: {}", need, errno_text(-status));
  const std::string version = content(out.get());
  const std::string name = "gnuplot ";
  if (status != 0 || version.rfind(name, 0) != 0 || std::atoi(version.c_str() + name.size()) < 5) {
    return fmt::format("{}: `gnuplot --version` says \"{}\"", need, last_line(version));
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
  const int status = spawn({"gnuplot", "-d", "-"}, ::fileno(in.get()), out_fd, ::fileno(err.get()));
  if (status < 0) return "gnuplot could not be run: " + errno_text(-status);
  const std::string complaint = last_line(content(err.get()));
  if (status != 0) return fmt::format("gnuplot ended with status {}: {}", status, complaint);
  return "";
}

}  // namespace tessera::bench
