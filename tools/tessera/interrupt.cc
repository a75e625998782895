#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "exit_code.h"
#include "io/tensor.h"

namespace tessera::cli {
namespace {

// Composed beforehand: a signal handler may not format.
std::string g_interrupted, g_lost_file;
std::atomic<bool> g_progress_visible{false};

void say(const char* text, std::size_t length) {
  // Nothing can be done about a stderr that takes no more.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, length);
}

void on_signal(int signal_number) {
  io::remove_temporaries();
  constexpr char kWipe[] = "\r\033[K";
  if (g_progress_visible.load(std::memory_order_relaxed)) say(kWipe, sizeof kWipe - 1);
  const std::string& line = signal_number == SIGBUS ? g_lost_file : g_interrupted;
  say(line.data(), line.size());
  ::_exit(signal_number == SIGBUS ? kBadInput : kInterrupted);
}

}  // namespace

void catch_interrupts(const std::string& verb) {
  g_interrupted = "tessera " + verb + ": interrupted\n";
  g_lost_file = "tessera " + verb +
                ": a mapped file could not be read to its end: it was shortened meanwhile, or its "
                "disk failed\n";
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigfillset(&action.sa_mask);  // one signal is enough
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGBUS}) {
    struct sigaction old;
    // A shell that starts a background job ignores SIGINT for it (nohup does so with SIGHUP).
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
}

void set_progress_visible(bool visible) {
  g_progress_visible.store(visible, std::memory_order_relaxed);
}

}  // namespace tessera::cli
