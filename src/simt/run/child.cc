// A run in a process of its own: a crash or a hang of the program is a finding, not ours.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "simt/run/session.h"
#include "simt/run/signals.h"
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

// In a signal's handler. What the parent must know in any case goes first, without a lock.
void host_end(int signal, std::uintptr_t instruction) {
  char mark[] = "!00\n";
  mark[1] = static_cast<char>('0' + signal / 10);
  mark[2] = static_cast<char>('0' + signal % 10);
  if (!g_sent && write(g_pipe, mark, 4) != 4) _exit(0);
  g_session->note_host_end(signal, instruction);
  std::fflush(stdout);
  send_result(128 + signal);
  _exit(0);
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
    catch_signals(options.time_limit_s, host_end);
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

constexpr std::size_t kMostText = std::size_t{1} << 30;  // of a result

std::string read_all(int end) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (text.size() < kMostText) {
    const ssize_t n = read(end, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

/// The signal of the mark that a dying host begins its text with; 0 without one.
int take_mark(std::string& text) {
  if (text.size() < 4 || text[0] != '!' || text[3] != '\n') return 0;
  const int signal = (text[1] - '0') * 10 + text[2] - '0';
  text.erase(0, 4);
  return signal;
}

/// Of a child that could not say more than how it ended.
RunResult result_of(const RunOptions& options, int signal) {
  RunResult result;
  result.exit_code = 128 + signal;
  result.findings.push_back(signal == SIGALRM ? late_host(options, {})
                                              : crashed_host(options, signal, {}));
  return result;
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
  std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const int signal = take_mark(text);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() && signal != 0) return result_of(options, signal);
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
