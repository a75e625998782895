#include "simt/run/signals.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "simt/run/session.h"

namespace tessera::simt {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr double kTick = 0.05;       // between two looks at a program that is late
constexpr int kPatience = 40;        // ticks for the host to come out of a library's code
constexpr double kDeadlockTime = 5;  // for a handler that may wait for a lock

HostEnd g_host_end = nullptr;
double g_time_limit_s = 0;
pthread_t g_main;
int g_ticks = 0;

struct Slot {
  std::atomic<bool> is_used = false;
  pthread_t thread{};
};
std::array<Slot, 256> g_slots;

std::uintptr_t instruction_of(void* context) {
  const auto* c = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(c->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return c->uc_mcontext.pc;
#else
#error "signals: which register is the program counter?"
#endif
}

timeval time_of(double s) {
  const auto whole = static_cast<time_t>(s);
  return {whole, static_cast<suseconds_t>((s - static_cast<double>(whole)) * 1e6)};
}

void set_clock(double first_s) {
  const itimerval timer{time_of(kTick), time_of(first_s)};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void use_stack(char* stack) {
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = kStackBytes;
  sigaltstack(&alternative, nullptr);
}

// From here on memory is allocated in a handler. Where the interrupted code holds a lock that this
// needs, the clock ends the process, and the parent knows why from what it was told before.
[[noreturn]] void end_host(int signal, std::uintptr_t instruction) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGALRM, &action, nullptr);
  set_clock(kDeadlockTime);
  g_host_end(signal, instruction);
  std::abort();
}

// A kernel that is interrupted in its own code holds no lock. In a hook it is left alone: those
// come to an end and look at the clock themselves.
void on_alarm(std::uintptr_t instruction) {
  Session& session = Session::get();
  if (working != nullptr) {
    if (session.is_own_code(instruction)) {
      set_clock(g_time_limit_s / 2 + 2);  // what the host may still take
      working->overdue(instruction, g_time_limit_s);
    }
    return;
  }
  if (pthread_equal(pthread_self(), g_main) == 0) return;
  for (const Slot& slot : g_slots) {
    if (slot.is_used) pthread_kill(slot.thread, SIGALRM);
  }
  if (session.is_launching()) return;
  // What launches took is not the host's.
  if (const double left_s = g_time_limit_s - session.host_time_s(); left_s > 0) {
    set_clock(left_s + kTick);
    return;
  }
  if (session.is_own_code(instruction) || ++g_ticks > kPatience) end_host(SIGALRM, instruction);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const std::uintptr_t instruction = instruction_of(context);
  if (signal == SIGALRM) return on_alarm(instruction);
  Worker* worker = working;
  if (worker == nullptr) end_host(signal, instruction);
  if (signal == SIGSEGV && info->si_addr != nullptr) {
    worker->fault(instruction, "touches memory that is not there, or runs out of local memory,");
  }
  worker->fault(instruction, fmt::format("stopped with signal {} ({})", signal, strsignal(signal)));
}

}  // namespace

void catch_signals(double time_limit_s, HostEnd host_end) {
  static char stack[kStackBytes];
  use_stack(stack);
  g_host_end = host_end;
  g_time_limit_s = time_limit_s;
  g_main = pthread_self();
  // The first call allocates, which a handler must not where malloc was interrupted.
  void* frame = nullptr;
  backtrace(&frame, 1);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  // The handler of a kernel's fault does not return: the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    sigaction(s, &action, nullptr);
  }
  // Blocks keep their own time; this is for loops that touch no memory.
  set_clock(time_limit_s * 1.5 + 2);
}

BlockThread::BlockThread() : stack_(new char[kStackBytes]) {
  use_stack(stack_);
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < g_slots.size() && slot_ < 0; ++i) {
    if (g_slots[i].is_used) continue;
    g_slots[i].thread = pthread_self();
    g_slots[i].is_used = true;
    slot_ = static_cast<int>(i);
  }
}

BlockThread::~BlockThread() {
  if (slot_ >= 0) g_slots[slot_].is_used = false;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  delete[] stack_;
}

}  // namespace tessera::simt
