#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "bench/child_group.h"
#include "exit_code.h"
#include "io/tensor.h"

namespace tessera::cli {
namespace {

// Composed beforehand: a signal handler may not format.
std::string g_interrupted, g_lost_file;
std::atomic<bool> g_progress_visible{false};
pid_t g_process = 0;

void say(const char* text, std::size_t length) {
  // Nothing can be done about a stderr that takes no more.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, length);
}

/// Of a process that was forked from this one and has these handlers still: nothing here is its
/// own.
bool is_another_process() { return ::getpid() != g_process; }

void clean_up() {
  bench::end_children();
  io::remove_temporaries();
  constexpr char kWipe[] = "\r\033[K";
  if (g_progress_visible.load(std::memory_order_relaxed)) say(kWipe, sizeof kWipe - 1);
}

void on_signal(int signal_number) {
  const int code = signal_number == SIGBUS ? kBadInput : kSignalled + signal_number;
  if (is_another_process()) ::_exit(code);
  clean_up();
  const std::string& line = signal_number == SIGBUS ? g_lost_file : g_interrupted;
  say(line.data(), line.size());
  ::_exit(code);
}

/// The signal keeps its usual effect: that comes when the handler returns, which unblocks it.
void on_fatal_signal(int signal_number) {
  if (!is_another_process()) clean_up();
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);  // one signal is enough
  struct sigaction old;
  // A shell that starts a background job ignores SIGINT for it (nohup does so with SIGHUP).
  if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) return;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void catch_interrupts(const std::string& verb) {
  g_process = ::getpid();
  g_interrupted = "tessera " + verb + ": interrupted\n";
  g_lost_file = "tessera " + verb +
                ": a mapped file could not be read to its end: it was shortened meanwhile, or its "
                "disk failed\n";
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGBUS}) handle(number, on_signal);
  // A reader of stderr that went away, Ctrl-\ on a terminal, a limit on CPU time, a timer.
  for (const int number : {SIGPIPE, SIGQUIT, SIGXCPU, SIGALRM}) handle(number, on_fatal_signal);
}

void set_progress_visible(bool visible) {
  g_progress_visible.store(visible, std::memory_order_relaxed);
}

}  // namespace tessera::cli
