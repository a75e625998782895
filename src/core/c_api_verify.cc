// The C interface to verify.
#include <fmt/format.h>

#include "core/c_api.h"
#include "tessera/verify.h"

using namespace tessera;         // NOLINT: this file only translates
using namespace tessera::c_api;  // NOLINT

namespace {

template <class T>
MatrixSource view(Layout layout, const void* data, int64_t rows, int64_t cols, int64_t ld) {
  return source_of(MatrixView<const T>(static_cast<const T*>(data), rows, cols, ld, layout));
}

/// One operand of verify; a null one is refused there unless it is not read.
MatrixSource source(DType dtype, Layout layout, const void* data, int64_t rows, int64_t cols,
                    int64_t ld) {
  if (data == nullptr) return {rows, cols, {}};
  switch (dtype) {
    case DType::kF64:
      return view<double>(layout, data, rows, cols, ld);
    case DType::kBF16:
      return view<BFloat16>(layout, data, rows, cols, ld);
    case DType::kF16:
      return view<Float16>(layout, data, rows, cols, ld);
    default:
      return view<float>(layout, data, rows, cols, ld);
  }
}

}  // namespace

extern "C" tessera_status tessera_verify(tessera_dtype dtype, tessera_layout layout,
                                         tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                         int64_t k, double alpha, const void* a, int64_t lda,
                                         const void* b, int64_t ldb, double beta, const void* c0,
                                         int64_t ldc0, const void* c, int64_t ldc,
                                         tessera_verify_method method, int threads,
                                         tessera_verify_report* report) {
  return guarded([&] {
    if (report == nullptr) refuse("report is null");
    *report = tessera_verify_report{};
    const DType type = dtype_of(dtype), output = output_of(dtype);
    const Layout order = layout_of(layout);
    VerifyProblem problem;
    problem.op_a = op_of("op_a", op_a);
    problem.op_b = op_of("op_b", op_b);
    problem.alpha = alpha;
    problem.beta = beta;
    problem.precision = output == DType::kF32 ? Precision::kFp32 : Precision::kFp64;
    problem.c_dtype = output;
    const bool ta = problem.op_a == Op::kT, tb = problem.op_b == Op::kT;
    problem.a = source(type, order, a, ta ? k : m, ta ? m : k, lda);
    problem.b = source(type, order, b, tb ? n : k, tb ? k : n, ldb);
    problem.c0 = source(output, order, c0, m, n, ldc0);
    problem.c = source(output, order, c, m, n, ldc);
    VerifyOptions options;
    if (method != TESSERA_VERIFY_FREIVALDS && method != TESSERA_VERIFY_FULL) {
      refuse(
          fmt::format("method = {}: must be TESSERA_VERIFY_FREIVALDS (0) or "
                      "TESSERA_VERIFY_FULL (1)",
                      static_cast<int>(method)));
    }
    options.method = method == TESSERA_VERIFY_FULL ? VerifyMethod::kFull : VerifyMethod::kFreivalds;
    options.threads = threads;
    const VerifyReport found = verify(problem, options);
    report->passed = found.passed ? 1 : 0;
    report->method =
        found.method == VerifyMethod::kFull ? TESSERA_VERIFY_FULL : TESSERA_VERIFY_FREIVALDS;
    report->worst_ratio = found.worst_ratio;
    report->detectable_error = found.detectable_error;
    report->row = found.row;
    report->col = found.col;
    report->expected = found.expected;
    report->got = found.got;
    report->bound = found.bound;
  });
}
