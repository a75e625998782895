#include "bench/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "core/int_math.h"
#include "tessera/error.h"
#include "tessera/verify.h"

namespace tessera::bench {
namespace {

constexpr std::int64_t kLine = 256;

[[noreturn]] void refuse(const char* rule) { throw Error(ErrorCode::kUnsupported, rule); }

std::int64_t line_bytes(const Case& c, const OperandDesc& x, DType dtype) {
  if (c.desc.batch > 1 && x.batch_stride < 0) refuse("a batch stride below 0 is not timed");
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(span_of(x, c.desc.batch), size, &bytes) || bytes > INT64_MAX / 8) {
    refuse("its operands do not fit the address space");
  }
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

std::int64_t span_of(const OperandDesc& x, std::int64_t batch) {
  const bool rows_run = x.layout == Layout::kRowMajor;
  const std::int64_t lines = rows_run ? x.rows : x.cols, length = rows_run ? x.cols : x.rows;
  if (lines == 0 || length == 0 || batch == 0) return 0;
  return (lines - 1) * x.ld + length + (batch - 1) * x.batch_stride;
}

SetBytes set_bytes(const Case& c) {
  const DType input = c.desc.input_dtype();
  return {line_bytes(c, c.desc.a, input), line_bytes(c, c.desc.b, input),
          line_bytes(c, c.desc.c, c.desc.dtype)};
}

std::int64_t sets_to_hold(const SetBytes& bytes, std::int64_t wanted_bytes, std::int64_t most,
                          std::int64_t memory_bytes) {
  const std::int64_t one = std::max<std::int64_t>(bytes.total(), 1);
  return std::max<std::int64_t>(1,
                                std::min({ceil_div(wanted_bytes, one), most, memory_bytes / one}));
}

HostOperands::HostOperands(const Case& c, const Settings& settings)
    : case_(c),
      threads_(settings.threads),
      bytes_(set_bytes(c)),
      a_("bench", bytes_.a),
      b_("bench", bytes_.b),
      c0_("bench", c.beta == 0 ? 0 : bytes_.c) {
  const auto fill_with = [&](DType dtype, void* data, std::int64_t bytes, std::uint64_t seed) {
    fill(settings.data, dtype, data, bytes / static_cast<std::int64_t>(size_of(dtype)), seed,
         threads_);
  };
  fill_with(c.desc.input_dtype(), a(), bytes_.a, settings.seed);
  fill_with(c.desc.input_dtype(), b(), bytes_.b, settings.seed + 1);
  if (c.beta != 0) fill_with(c.desc.dtype, c0(), bytes_.c, settings.seed + 2);
}

Check HostOperands::check(const void* c) const {
  switch (case_.desc.input_dtype()) {
    case DType::kF64:
      return check_as<double>(static_cast<const double*>(c));
    case DType::kBF16:
      return check_as<BFloat16>(static_cast<const float*>(c));
    case DType::kF16:
      return check_as<Float16>(static_cast<const float*>(c));
    default:
      return check_as<float>(static_cast<const float*>(c));
  }
}

template <class In, class T>
Check HostOperands::check_as(const T* c) const {
  const GemmDesc& d = case_.desc;
  Check worst;
  for (std::int64_t i = 0; i < d.batch && worst.fault.empty(); ++i) {
    const auto source = [&]<class E>(const E* p, const OperandDesc& x) {
      return source_of(MatrixView<const E>(p + i * x.batch_stride, x.rows, x.cols, x.ld, x.layout));
    };
    VerifyProblem problem;
    problem.op_a = d.op_a;
    problem.op_b = d.op_b;
    problem.alpha = case_.alpha;
    problem.beta = case_.beta;
    problem.a = source(static_cast<const In*>(a()), d.a);
    problem.b = source(static_cast<const In*>(b()), d.b);
    problem.c = source(c, d.c);
    if (case_.beta != 0) problem.c0 = source(static_cast<const T*>(c0()), d.c);
    problem.precision = d.dtype == DType::kF32 ? Precision::kFp32 : Precision::kFp64;
    problem.c_dtype = d.dtype;
    VerifyOptions options;
    options.threads = threads_;
    const VerifyReport report = verify(problem, options);
    worst.worst_ratio = std::max(worst.worst_ratio, report.worst_ratio);
    if (!report.passed) {
      worst.fault = (d.batch > 1 ? fmt::format("batch member {}: ", i) : "") + report.to_string();
    }
  }
  return worst;
}

std::size_t fingerprint(const void* data, std::size_t bytes) {
  return std::hash<std::string_view>()(std::string_view(static_cast<const char*>(data), bytes));
}

}  // namespace tessera::bench
