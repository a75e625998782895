#include "core/call_log.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tessera {
namespace {

/// Where lines go: null when logging is off. Opened once, left open for the life of the process.
std::FILE* log_file() {
  static std::FILE* const file = []() -> std::FILE* {
    const char* value = std::getenv("TESSERA_LOG");
    if (value == nullptr) return nullptr;
    const std::string_view text = value;
    if (text == "calls") return stderr;
    constexpr std::string_view kPrefix = "calls:";
    if (text.substr(0, kPrefix.size()) != kPrefix) return nullptr;
    return std::fopen(value + kPrefix.size(), "ae");
  }();
  return file;
}

std::string operand(const OperandDesc& x) {
  return fmt::format(R"({{"rows":{},"cols":{},"ld":{},"layout":"{}","batch_stride":{}}})", x.rows,
                     x.cols, x.ld, x.layout == Layout::kRowMajor ? "row" : "col", x.batch_stride);
}

/// JSON has no NaN and no infinity; they become strings.
std::string number(double x) {
  const std::string text = fmt::format("{}", x);
  return x - x == 0 ? text : '"' + text + '"';
}

}  // namespace

void log_call(const Plan& plan, const GemmDesc& desc, double alpha, double beta) {
  std::FILE* const file = log_file();
  if (file == nullptr) return;
  const Problem& p = plan.problem();
  const bool swapped = desc.c.layout == Layout::kColMajor;
  // One write, so that lines of several threads do not mix.
  const std::string line = fmt::format(
      R"({{"tessera":"gemm","dtype":"{}","op_a":"{}","op_b":"{}","m":{},"n":{},"k":{},)"
      R"("a":{},"b":{},"c":{},"batch":{},"alpha":{},"beta":{},"device":"{}","threads":{},)"
      R"("kernel":"{}"}})"
      "\n",
      to_string(p.dtype), desc.op_a == Op::kT ? "T" : "N", desc.op_b == Op::kT ? "T" : "N",
      swapped ? p.n : p.m, swapped ? p.m : p.n, p.k, operand(desc.a), operand(desc.b),
      operand(desc.c), p.batch, number(alpha), number(beta),
      desc.space == Space::kHost ? "cpu" : fmt::format("cuda:{}", desc.device), plan.threads(),
      plan.kernel());
  std::fwrite(line.data(), 1, line.size(), file);
  std::fflush(file);
}

}  // namespace tessera
