#include "core/call_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "tessera/error.h"

namespace tessera {
namespace {

[[noreturn]] void refuse(const char* value, const std::string& rule) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("TESSERA_LOG = \"{}\": {}", value, rule));
}

/// Where lines go: null when logging is off. Opened once, left open for the life of the process.
std::FILE* log_file() {
  static std::FILE* const file = []() -> std::FILE* {
    const char* value = std::getenv("TESSERA_LOG");
    if (value == nullptr || *value == '\0') return nullptr;
    const std::string_view text = value;
    if (text == "calls") return stderr;
    constexpr std::string_view kPrefix = "calls:";
    if (text.substr(0, kPrefix.size()) != kPrefix) refuse(value, "must be calls or calls:FILE");
    std::FILE* const opened = std::fopen(value + kPrefix.size(), "ae");
    if (opened == nullptr) {
      refuse(value, "cannot open the file: " + std::generic_category().message(errno));
    }
    return opened;
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

void write_line(std::FILE* file, const Plan& plan, const GemmDesc& desc, double alpha,
                double beta) {
  const Problem& p = plan.problem();
  const bool swapped = desc.c.layout == Layout::kColMajor;
  const std::string input =
      p.input_dtype() == p.dtype ? "" : fmt::format(R"("input":"{}",)", to_string(p.input_dtype()));
  // One write, so that lines of several threads do not mix.
  const std::string line = fmt::format(
      R"({{"tessera":"gemm","dtype":"{}",{}"op_a":"{}","op_b":"{}","m":{},"n":{},"k":{},)"
      R"("a":{},"b":{},"c":{},"batch":{},"alpha":{},"beta":{},"device":"{}","threads":{},)"
      R"("kernel":"{}"}})"
      "\n",
      to_string(p.dtype), input, desc.op_a == Op::kT ? "T" : "N", desc.op_b == Op::kT ? "T" : "N",
      swapped ? p.n : p.m, swapped ? p.m : p.n, p.k, operand(desc.a), operand(desc.b),
      operand(desc.c), p.batch, number(alpha), number(beta),
      desc.space == Space::kHost ? "cpu" : fmt::format("cuda:{}", desc.device), plan.threads(),
      plan.kernel());
  std::fwrite(line.data(), 1, line.size(), file);
  std::fflush(file);
}

}  // namespace

void check_call_log() { log_file(); }

void log_call(const Plan& plan, const GemmDesc& desc, double alpha, double beta) {
  std::FILE* const file = log_file();
  if (file == nullptr) return;
  try {
    write_line(file, plan, desc, alpha, beta);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace tessera
