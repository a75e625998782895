#include "bench/gnuplot.h"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/run_program.h"
#include "io/message.h"

namespace tessera::bench {

std::string gnuplot_missing() {
  const std::string need = "charts need gnuplot 5 (Debian: gnuplot-nox)";
  try {
    const Printed printed = run_program({"gnuplot", "--version"});
    const std::string name = "gnuplot ", &version = printed.out;
    if (printed.exit_code == 0 && version.rfind(name, 0) == 0 &&
        std::atoi(version.c_str() + name.size()) >= 5) {
      return "";
    }
    return fmt::format("{}: `gnuplot --version` says {}", need,
                       io::in_quotes(last_line(version + printed.err)));
  } catch (const Error& e) {
    return fmt::format("{}: {}", need, e.what());
  }
}

std::string run_gnuplot(const std::string& script) {
  const Printed printed = run_program({"gnuplot", "-d", "-"}, script);
  // It prints the command and a caret before the line that says what is wrong.
  const std::string complaint = last_line(printed.err);
  if (printed.exit_code != 0) {
    io::output_failure("gnuplot", printed.exit_code < 0
                                      ? "was killed"
                                      : fmt::format("ended with status {}: {}", printed.exit_code,
                                                    io::in_quotes(complaint)));
  }
  if (printed.out.empty()) io::output_failure("gnuplot", "drew nothing");
  return printed.out;
}

}  // namespace tessera::bench
