// The entry of the check: arguments, the rules on scalars, and the order of the two stages.
#include "tessera/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include "core/int_math.h"
#include "core/round.h"
#include "core/threads.h"
#include "tessera/error.h"
#include "verify/check.h"
#include "verify/freivalds.h"
#include "verify/recheck.h"

namespace tessera {
namespace {

using verify_detail::Check;
using verify_detail::ErrorModel;
using verify_detail::RecheckResult;
using verify_detail::Runner;
using verify_detail::Screening;

// When m, n or k is this small, comparing every element costs no more multiply-adds than the sign
// vectors do, and promises more.
constexpr std::int64_t kSmall = 16;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "verify: " + what);
}

void require_shape(const char* name, const MatrixSource& s, std::int64_t rows, std::int64_t cols) {
  if (s.rows != rows || s.cols != cols) {
    refuse(fmt::format("{} is {} x {}: must be {} x {}", name, s.rows, s.cols, rows, cols));
  }
}

void require_readable(const char* name, const MatrixSource& s) {
  if (s.rows > 0 && s.cols > 0 && !s.read)
    refuse(fmt::format("{} is {} x {}, but has nothing to read it from", name, s.rows, s.cols));
}

bool computes_in_fp64(const VerifyProblem& p) {
  switch (p.precision) {
    case Precision::kFp32:
      return false;
    case Precision::kFp64:
      return true;
    default:
      refuse(fmt::format("precision = {}: must be fp32 or fp64", to_string(p.precision)));
  }
}

Check make_check(const VerifyProblem& p) {
  const bool fp64 = computes_in_fp64(p);
  Check out{.model = ErrorModel(0, 0, 0, p.precision, p.c_dtype)};
  out.op_a = p.op_a;
  out.op_b = p.op_b;
  out.narrow = !fp64;
  out.m = p.op_a == Op::kN ? p.a.rows : p.a.cols;
  out.k = p.op_a == Op::kN ? p.a.cols : p.a.rows;
  out.n = p.op_b == Op::kN ? p.b.cols : p.b.rows;
  if (out.m < 0 || out.n < 0 || out.k < 0) refuse("a matrix has a negative size");
  const std::int64_t b_k = p.op_b == Op::kN ? p.b.rows : p.b.cols;
  if (b_k != out.k) {
    refuse(fmt::format("op(A) is {} x {} and op(B) is {} x {}: must agree in k", out.m, out.k, b_k,
                       out.n));
  }
  require_shape("C", p.c, out.m, out.n);
  require_readable("C", p.c);

  // gemm rounds the scalars to C's type before it asks whether they are zero.
  out.alpha = fp64 ? p.alpha : round_to_f32(p.alpha);
  out.beta = fp64 ? p.beta : round_to_f32(p.beta);
  if (out.alpha == 0 || out.k == 0) {
    out.alpha = 0;
    out.k = 0;
  } else {
    require_readable("A", p.a);
    require_readable("B", p.b);
  }
  if (out.beta != 0) {
    require_shape("C0", p.c0, out.m, out.n);
    require_readable("C0", p.c0);
  }
  out.a = &p.a;
  out.b = &p.b;
  out.c0 = &p.c0;
  out.c = &p.c;
  out.model = ErrorModel(out.k, out.alpha, out.beta, p.precision, p.c_dtype);
  return out;
}

std::vector<std::int64_t> range(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

// Adds to `report` what a recheck found; the first wrong element found stays.
void add(const RecheckResult& r, VerifyReport& report) {
  report.rows_rechecked += r.rows;
  report.worst_ratio = std::max(report.worst_ratio, r.worst_ratio);
  report.detectable_error = std::max(report.detectable_error, r.largest_detectable);
  if (r.row < 0) return;
  report.passed = false;
  report.row = r.row;
  report.col = r.col;
  report.expected = r.verdict.expected;
  report.got = r.got;
  report.bound = r.verdict.bound;
}

void check_all(const Check& check, Runner& runner, VerifyReport& report) {
  report.method = VerifyMethod::kFull;
  report.rounds = 0;
  runner.begin_phase(1, static_cast<double>(check.m) / 64);
  const std::int64_t blocks = ceil_div(check.n, verify_detail::kColumnBlock);
  add(recheck(check, runner, nullptr, range(blocks)), report);
}

void check_by_signs(const Check& check, Runner& runner, std::uint64_t seed, VerifyReport& report) {
  const Screening found = screen(check, runner, report.rounds, seed);
  report.worst_ratio = found.worst_ratio;
  report.detectable_error = found.detectable_error;
  const std::int64_t blocks = ceil_div(check.n, verify_detail::kColumnBlock);
  const double rows = static_cast<double>(found.rows.size());
  const double all = found.column_blocks.empty() ? 0 : static_cast<double>(check.m);
  runner.begin_phase(1, (rows + all) / 64);
  add(recheck(check, runner, &found.rows, range(blocks)), report);
  if (!report.passed || found.column_blocks.empty()) return;
  const RecheckResult columns = recheck(check, runner, nullptr, found.column_blocks);
  add(columns, report);
  report.rows_rechecked = std::max(columns.rows, static_cast<std::int64_t>(found.rows.size()));
}

}  // namespace

VerifyReport verify(const VerifyProblem& problem, const VerifyOptions& options) try {
  const Check check = make_check(problem);
  if (options.rounds < 1 || options.rounds > verify_detail::kMaxRounds) {
    refuse(fmt::format("rounds = {}: must be from 1 to {}", options.rounds,
                       verify_detail::kMaxRounds));
  }
  if (options.threads < 0) refuse(fmt::format("threads = {}: must be >= 0", options.threads));
  VerifyReport report;
  report.passed = true;
  report.method = options.method;
  report.rounds = options.rounds;
  const bool small = std::min({check.m, check.n, check.k}) <= kSmall;
  if (check.m == 0 || check.n == 0) return report;
  Runner runner(resolve_threads(options.threads), options.progress);
  if (small || options.method == VerifyMethod::kFull) {
    check_all(check, runner, report);
  } else {
    check_by_signs(check, runner, options.seed, report);
  }
  return report;
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::kOutOfMemory, "verify: host memory ran out");
}

}  // namespace tessera
