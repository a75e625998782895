// The C interface: enumerators to types, exceptions to statuses, nothing else.
#include "tessera/tessera.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "tessera/gemm.h"
#include "tessera/plan.h"
#include "tessera/verify.h"

using namespace tessera;  // NOLINT: this file only translates

struct tessera_plan {
  Plan plan;
  std::string explanation;
};

namespace {

// Without a destructor, so that those of other thread-local objects may still fail; without an
// allocation, so that running out of memory can be reported. Longer messages lose their end.
thread_local char t_last_error[1024] = "";

void remember(const char* message) noexcept {
  std::strncpy(t_last_error, message, sizeof t_last_error - 1);
}

tessera_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return TESSERA_INVALID_ARGUMENT;
    case ErrorCode::kUnsupported:
      return TESSERA_UNSUPPORTED;
    case ErrorCode::kNoDevice:
      return TESSERA_NO_DEVICE;
    case ErrorCode::kOutOfMemory:
      return TESSERA_OUT_OF_MEMORY;
    case ErrorCode::kDeviceFailure:
      return TESSERA_DEVICE_FAILURE;
    case ErrorCode::kCancelled:
      return TESSERA_CANCELLED;
    case ErrorCode::kBadFile:
    case ErrorCode::kOutputFailure:
      break;
  }
  return TESSERA_INTERNAL;
}

/// Runs f and turns what it throws into a status and the thread's message.
template <class F>
tessera_status guarded(F f) noexcept {
  try {
    f();
    return TESSERA_OK;
  } catch (const Error& e) {
    remember(e.what());
    return status_of(e.code());
  } catch (const std::bad_alloc&) {
    remember("out of host memory");
    return TESSERA_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    remember(e.what());
  } catch (...) {
    remember("an exception of unknown type");
  }
  return TESSERA_INTERNAL;
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "tessera.h: " + message);
}

Layout layout_of(tessera_layout layout) {
  if (layout == TESSERA_ROW_MAJOR) return Layout::kRowMajor;
  if (layout == TESSERA_COL_MAJOR) return Layout::kColMajor;
  refuse(fmt::format("layout = {}: must be TESSERA_ROW_MAJOR (101) or TESSERA_COL_MAJOR (102)",
                     static_cast<int>(layout)));
}

Op op_of(const char* name, tessera_op op) {
  if (op == TESSERA_OP_N) return Op::kN;
  if (op == TESSERA_OP_T) return Op::kT;
  refuse(fmt::format("{} = {}: must be TESSERA_OP_N (111) or TESSERA_OP_T (112)", name,
                     static_cast<int>(op)));
}

DType dtype_of(tessera_dtype dtype) {
  if (dtype == TESSERA_F32) return DType::kF32;
  if (dtype == TESSERA_F64) return DType::kF64;
  refuse(fmt::format("dtype = {}: must be TESSERA_F32 (0) or TESSERA_F64 (1)",
                     static_cast<int>(dtype)));
}

constexpr tessera_options kDefaults = {sizeof(tessera_options),
                                       TESSERA_HOST,
                                       TESSERA_PRECISION_NATIVE,
                                       TESSERA_RUN_TO_RUN,
                                       nullptr,
                                       0,
                                       nullptr,
                                       -1,
                                       1};
// When fields are added this stays what it is: callers with the older header keep working.
constexpr std::size_t kOldestOptions = offsetof(tessera_options, alignment) + sizeof(int);

struct Resolved {
  GemmOptions options;
  Space space = Space::kHost;
  int device = -1;
  int alignment = 1;
};

Resolved resolve(const tessera_options* caller) {
  tessera_options known = kDefaults;
  if (caller != nullptr) {
    const std::size_t size = caller->struct_size;
    if (size < kOldestOptions || size > sizeof known) {
      refuse(
          fmt::format("options.struct_size = {}: must be from {} to {}; call "
                      "tessera_options_init first, and use the header of this library",
                      size, kOldestOptions, sizeof known));
    }
    std::memcpy(&known, caller, size);
  }
  const tessera_options* const given = &known;
  Resolved out;
  if (given->space != TESSERA_HOST && given->space != TESSERA_CUDA) {
    refuse(fmt::format("options.space = {}: must be 0 or 1", static_cast<int>(given->space)));
  }
  if (given->precision < TESSERA_PRECISION_NATIVE ||
      given->precision > TESSERA_PRECISION_FP32_TENSOR) {
    refuse(
        fmt::format("options.precision = {}: must be 0 to 6", static_cast<int>(given->precision)));
  }
  if (given->determinism != TESSERA_RUN_TO_RUN && given->determinism != TESSERA_BATCH_INVARIANT) {
    refuse(fmt::format("options.determinism = {}: must be 0 or 1",
                       static_cast<int>(given->determinism)));
  }
  // The C enumerators were given the C++ values.
  out.space = static_cast<Space>(given->space);
  out.options.precision = static_cast<Precision>(given->precision);
  out.options.determinism = static_cast<Determinism>(given->determinism);
  if (given->kernel != nullptr) out.options.kernel = given->kernel;
  out.options.threads = given->threads;
  out.options.stream = given->stream;
  out.device = given->device;
  out.alignment = given->alignment;
  return out;
}

template <class T>
void run(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
         T alpha, const T* a, int64_t lda, int64_t stride_a, const T* b, int64_t ldb,
         int64_t stride_b, T beta, T* c, int64_t ldc, int64_t stride_c, int64_t batch,
         const tessera_options* given) {
  const Resolved r = resolve(given);
  const Layout order = layout_of(layout);
  const Op a_op = op_of("op_a", op_a), b_op = op_of("op_b", op_b);
  const bool ta = a_op == Op::kT, tb = b_op == Op::kT;
  gemm_strided_batched(
      a_op, b_op, alpha, MatrixView<const T>(a, ta ? k : m, ta ? m : k, lda, order, r.space),
      stride_a, MatrixView<const T>(b, tb ? n : k, tb ? k : n, ldb, order, r.space), stride_b, beta,
      MatrixView<T>(c, m, n, ldc, order, r.space), stride_c, batch, r.options);
}

/// One operand of verify; a null one is refused there unless it is not read.
MatrixSource source(DType dtype, Layout layout, const void* data, int64_t rows, int64_t cols,
                    int64_t ld) {
  if (data == nullptr) return {rows, cols, {}};
  if (dtype == DType::kF32) {
    return source_of(
        MatrixView<const float>(static_cast<const float*>(data), rows, cols, ld, layout));
  }
  return source_of(
      MatrixView<const double>(static_cast<const double*>(data), rows, cols, ld, layout));
}

}  // namespace

extern "C" {

void tessera_options_init_sized(tessera_options* options, size_t struct_size) {
  if (options == nullptr) return;
  tessera_options defaults = kDefaults;
  // Of a newer header this library knows the first fields only, and says so in struct_size.
  defaults.struct_size = struct_size < sizeof defaults ? struct_size : sizeof defaults;
  std::memcpy(options, &defaults, defaults.struct_size);
}

tessera_status tessera_sgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                             int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                             const float* b, int64_t ldb, float beta, float* c, int64_t ldc,
                             const tessera_options* options) {
  return guarded([&] {
    run<float>(layout, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1,
               options);
  });
}

tessera_status tessera_dgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                             int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
                             const double* b, int64_t ldb, double beta, double* c, int64_t ldc,
                             const tessera_options* options) {
  return guarded([&] {
    run<double>(layout, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1,
                options);
  });
}

tessera_status tessera_sgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             float alpha, const float* a, int64_t lda,
                                             int64_t stride_a, const float* b, int64_t ldb,
                                             int64_t stride_b, float beta, float* c, int64_t ldc,
                                             int64_t stride_c, int64_t batch,
                                             const tessera_options* options) {
  return guarded([&] {
    run<float>(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
               stride_c, batch, options);
  });
}

tessera_status tessera_dgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             double alpha, const double* a, int64_t lda,
                                             int64_t stride_a, const double* b, int64_t ldb,
                                             int64_t stride_b, double beta, double* c, int64_t ldc,
                                             int64_t stride_c, int64_t batch,
                                             const tessera_options* options) {
  return guarded([&] {
    run<double>(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                ldc, stride_c, batch, options);
  });
}

tessera_status tessera_plan_create(tessera_plan** plan, tessera_dtype dtype, tessera_layout layout,
                                   tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                   int64_t k, int64_t lda, int64_t ldb, int64_t ldc,
                                   const tessera_options* options) {
  return tessera_plan_create_strided_batched(plan, dtype, layout, op_a, op_b, m, n, k, lda, 0, ldb,
                                             0, ldc, 0, 1, options);
}

tessera_status tessera_plan_create_strided_batched(tessera_plan** plan, tessera_dtype dtype,
                                                   tessera_layout layout, tessera_op op_a,
                                                   tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                                   int64_t lda, int64_t stride_a, int64_t ldb,
                                                   int64_t stride_b, int64_t ldc, int64_t stride_c,
                                                   int64_t batch, const tessera_options* options) {
  return guarded([&] {
    if (plan == nullptr) refuse("plan is null");
    *plan = nullptr;
    const Resolved r = resolve(options);
    GemmDesc desc;
    desc.dtype = dtype_of(dtype);
    desc.space = r.space;
    desc.device = r.device;
    desc.op_a = op_of("op_a", op_a);
    desc.op_b = op_of("op_b", op_b);
    desc.batch = batch;
    const Layout order = layout_of(layout);
    const auto operand = [&](Op op, int64_t rows, int64_t cols, int64_t ld, int64_t stride) {
      if (op == Op::kT) std::swap(rows, cols);
      return OperandDesc{rows, cols, ld, order, stride, r.alignment};
    };
    desc.a = operand(desc.op_a, m, k, lda, stride_a);
    desc.b = operand(desc.op_b, k, n, ldb, stride_b);
    desc.c = operand(Op::kN, m, n, ldc, stride_c);
    auto made = std::make_unique<tessera_plan>(tessera_plan{Plan(desc, r.options), ""});
    made->explanation = made->plan.explain().to_string();
    *plan = made.release();
  });
}

void tessera_plan_destroy(tessera_plan* plan) { delete plan; }

size_t tessera_plan_workspace_bytes(const tessera_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.workspace_bytes();
}

const char* tessera_plan_kernel(const tessera_plan* plan) {
  return plan == nullptr ? "" : plan->plan.kernel().c_str();
}

const char* tessera_plan_explanation(const tessera_plan* plan) {
  return plan == nullptr ? "" : plan->explanation.c_str();
}

int tessera_plan_threads(const tessera_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.threads();
}

tessera_status tessera_plan_run(const tessera_plan* plan, double alpha, const void* a,
                                const void* b, double beta, void* c, void* workspace,
                                size_t workspace_bytes, void* stream) {
  return guarded([&] {
    if (plan == nullptr) refuse("plan is null");
    plan->plan.run(alpha, a, b, beta, c, workspace, workspace_bytes, stream);
  });
}

tessera_status tessera_verify(tessera_dtype dtype, tessera_layout layout, tessera_op op_a,
                              tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                              const void* a, int64_t lda, const void* b, int64_t ldb, double beta,
                              const void* c0, int64_t ldc0, const void* c, int64_t ldc,
                              tessera_verify_method method, int threads,
                              tessera_verify_report* report) {
  return guarded([&] {
    if (report == nullptr) refuse("report is null");
    *report = tessera_verify_report{};
    const DType type = dtype_of(dtype);
    const Layout order = layout_of(layout);
    VerifyProblem problem;
    problem.op_a = op_of("op_a", op_a);
    problem.op_b = op_of("op_b", op_b);
    problem.alpha = alpha;
    problem.beta = beta;
    problem.precision = type == DType::kF32 ? Precision::kFp32 : Precision::kFp64;
    problem.c_dtype = type;
    const bool ta = problem.op_a == Op::kT, tb = problem.op_b == Op::kT;
    problem.a = source(type, order, a, ta ? k : m, ta ? m : k, lda);
    problem.b = source(type, order, b, tb ? n : k, tb ? k : n, ldb);
    problem.c0 = source(type, order, c0, m, n, ldc0);
    problem.c = source(type, order, c, m, n, ldc);
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

const char* tessera_last_error(void) { return t_last_error; }

const char* tessera_version(void) { return TESSERA_VERSION; }

}  // extern "C"
