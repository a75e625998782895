// A run in a process of its own: a crash or a hang of the program is a finding, not ours.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "simt/run/session.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

// What the signal handlers and atexit need; one child runs one session.
Session* g_session = nullptr;
int g_pipe = -1;
bool g_sent = false;

void send(const Json& json) {
  if (g_sent) return;
  g_sent = true;
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = write(g_pipe, text.data() + at, text.size() - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  close(g_pipe);
}

void send_result(int exit_code) {
  if (g_sent) return;
  RunResult result = g_session->finish();
  result.exit_code = exit_code;
  send({{"result", to_json(result)}});
}

// The program called exit().
void at_exit(int code, void*) {
  if (g_session != nullptr) send_result(code);
}

void on_signal(int signal, siginfo_t* info, void*) {
  g_session->note_signal(signal, signal == SIGSEGV ? info->si_addr : nullptr);
  std::fflush(stdout);
  send_result(128 + signal);
  _exit(0);
}

void catch_signals(double time_limit_s) {
  static char stack[256 * 1024];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    sigaction(s, &action, nullptr);
  }
  // Blocks keep their own time; this is for loops that touch no memory.
  itimerval timer{};
  const double limit = time_limit_s * 1.5 + 2;
  timer.it_value.tv_sec = static_cast<time_t>(limit);
  timer.it_value.tv_usec = static_cast<suseconds_t>((limit - static_cast<time_t>(limit)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

[[noreturn]] void run_child(const RunOptions& options, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  g_pipe = pipe_end;
  if (options.output == RunOptions::Output::kStderr) dup2(2, 1);
  if (options.output == RunOptions::Output::kNowhere) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
  }
  try {
    Session session(options);
    g_session = &session;
    catch_signals(options.time_limit_s);
    session.load();
    on_exit(at_exit, nullptr);
    const int code = session.run_program();
    std::fflush(stdout);
    send_result(code);
    // Not exit(): destructors of the program's statics have nothing to say any more.
    _exit(0);
  } catch (const Error& error) {
    send({{"error", error.what()}, {"code", static_cast<int>(error.code())}});
  } catch (const std::exception& error) {
    send({{"error", fmt::format("check: the program threw: {}", error.what())},
          {"code", static_cast<int>(ErrorCode::kUnsupported)}});
  }
  _exit(0);
}

std::string read_all(int end) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = read(end, buffer, sizeof buffer);
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace

void Session::unsupported(const std::string& what) {
  send({{"error", "check: the executor cannot run " + what},
        {"code", static_cast<int>(ErrorCode::kUnsupported)}});
  _exit(0);
}

RunResult run(const RunOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kDeviceFailure, "check: cannot make a pipe");
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw Error(ErrorCode::kDeviceFailure, "check: cannot start a process");
  if (child == 0) {
    close(ends[0]);
    run_child(options, ends[1]);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    throw Error(ErrorCode::kDeviceFailure,
                WIFSIGNALED(status)
                    ? fmt::format("check: the run was ended by signal {}", WTERMSIG(status))
                    : "check: the run ended without a result");
  }
  if (json.contains("error")) {
    throw Error(static_cast<ErrorCode>(json.at("code").get<int>()), json.at("error"));
  }
  return run_result_from_json(json.at("result"));
}

}  // namespace tessera::simt
