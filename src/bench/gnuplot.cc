#include "bench/gnuplot.h"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/run_program.h"
#include "io/message.h"

namespace tessera::bench {
namespace {

/// A gnuplot that is none may hang or write without end.
constexpr ProgramLimits kLimits{60, std::int64_t{64} << 20};

}  // namespace

std::string gnuplot_missing() {
  const std::string need = "charts need gnuplot 5 (Debian: gnuplot-nox)";
  try {
    const Printed printed = run_program({"gnuplot", "--version"}, "", kLimits);
    const std::string name = "gnuplot ", &version = printed.out;
    if (printed.exit_code == 0 && version.rfind(name, 0) == 0 &&
        std::atoi(version.c_str() + name.size()) >= 5) {
      return "";
    }
    if (printed.was_stopped) {
      return fmt::format(
          "{}: `gnuplot --version` did not end within a minute and 64 MiB, and was stopped", need);
    }
    return fmt::format("{}: `gnuplot --version` says {}", need,
                       io::in_quotes(last_line(version + printed.err)));
  } catch (const Error& e) {
    return fmt::format("{}: {}", need, e.what());
  }
}

std::string run_gnuplot(const std::string& script) {
  const Printed printed = run_program({"gnuplot", "-d", "-"}, script, kLimits);
  // It prints the command and a caret before the line that says what is wrong.
  const std::string complaint = last_line(printed.err);
  if (printed.exit_code != 0) {
    const std::string how =
        printed.was_stopped     ? "did not end within a minute and 64 MiB, and was stopped"
        : printed.exit_code < 0 ? "was killed"
                                : fmt::format("ended with status {}", printed.exit_code);
    io::output_failure("gnuplot", how + (complaint.empty() ? "" : ": " + io::in_quotes(complaint)));
  }
  if (printed.out.empty()) io::output_failure("gnuplot", "drew nothing");
  return printed.out;
}

}  // namespace tessera::bench
