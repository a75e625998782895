// The C interface to products and plans: enumerators to types, nothing else.
#include "core/c_api.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tessera/gemm.h"
#include "tessera/plan.h"

using namespace tessera;         // NOLINT: this file only translates
using namespace tessera::c_api;  // NOLINT

struct tessera_plan {
  Plan plan;
  std::string explanation;
};

namespace {

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

/// The three operands, without pointers.
template <class In, class T>
struct Shape {
  Op op_a, op_b;
  MatrixView<const In> a, b;
  MatrixView<T> c;
};

template <class In, class T>
Shape<In, T> shape_of(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                      int64_t k, int64_t lda, int64_t ldb, int64_t ldc, Space space) {
  const Layout order = layout_of(layout);
  const Op a_op = op_of("op_a", op_a), b_op = op_of("op_b", op_b);
  const bool ta = a_op == Op::kT, tb = b_op == Op::kT;
  return {a_op,
          b_op,
          {nullptr, ta ? k : m, ta ? m : k, lda, order, space},
          {nullptr, tb ? n : k, tb ? k : n, ldb, order, space},
          {nullptr, m, n, ldc, order, space}};
}

/// 16-bit elements as C++ names them.
template <class In>
const In* elements(const std::uint16_t* x) {
  static_assert(sizeof(In) == sizeof *x && std::is_standard_layout_v<In>);
  return reinterpret_cast<const In*>(x);
}

template <class T, class In>
void run(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
         T alpha, const In* a, int64_t lda, int64_t stride_a, const In* b, int64_t ldb,
         int64_t stride_b, T beta, T* c, int64_t ldc, int64_t stride_c, int64_t batch,
         const tessera_options* given) {
  const Resolved r = resolve(given);
  Shape<In, T> x = shape_of<In, T>(layout, op_a, op_b, m, n, k, lda, ldb, ldc, r.space);
  x.a.data = a;
  x.b.data = b;
  x.c.data = c;
  gemm_strided_batched(x.op_a, x.op_b, alpha, x.a, stride_a, x.b, stride_b, beta, x.c, stride_c,
                       batch, r.options);
}

template <class T>
void run_pointers(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                  int64_t k, T alpha, const T* const* a, int64_t lda, const T* const* b,
                  int64_t ldb, T beta, T* const* c, int64_t ldc, int64_t batch,
                  const tessera_options* given) {
  const Resolved r = resolve(given);
  const Shape<T, T> x = shape_of<T, T>(layout, op_a, op_b, m, n, k, lda, ldb, ldc, r.space);
  gemm_pointer_batched(x.op_a, x.op_b, alpha, x.a, a, x.b, b, beta, x.c, c, batch, r.options);
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

tessera_status tessera_shgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                              int64_t n, int64_t k, float alpha, const tessera_f16* a, int64_t lda,
                              const tessera_f16* b, int64_t ldb, float beta, float* c, int64_t ldc,
                              const tessera_options* options) {
  return guarded([&] {
    run<float>(layout, op_a, op_b, m, n, k, alpha, elements<Float16>(a), lda, 0,
               elements<Float16>(b), ldb, 0, beta, c, ldc, 0, 1, options);
  });
}

tessera_status tessera_sbgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                              int64_t n, int64_t k, float alpha, const tessera_bf16* a, int64_t lda,
                              const tessera_bf16* b, int64_t ldb, float beta, float* c, int64_t ldc,
                              const tessera_options* options) {
  return guarded([&] {
    run<float>(layout, op_a, op_b, m, n, k, alpha, elements<BFloat16>(a), lda, 0,
               elements<BFloat16>(b), ldb, 0, beta, c, ldc, 0, 1, options);
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

tessera_status tessera_sbgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                              tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              float alpha, const tessera_bf16* a, int64_t lda,
                                              int64_t stride_a, const tessera_bf16* b, int64_t ldb,
                                              int64_t stride_b, float beta, float* c, int64_t ldc,
                                              int64_t stride_c, int64_t batch,
                                              const tessera_options* options) {
  return guarded([&] {
    run<float>(layout, op_a, op_b, m, n, k, alpha, elements<BFloat16>(a), lda, stride_a,
               elements<BFloat16>(b), ldb, stride_b, beta, c, ldc, stride_c, batch, options);
  });
}

tessera_status tessera_shgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                              tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              float alpha, const tessera_f16* a, int64_t lda,
                                              int64_t stride_a, const tessera_f16* b, int64_t ldb,
                                              int64_t stride_b, float beta, float* c, int64_t ldc,
                                              int64_t stride_c, int64_t batch,
                                              const tessera_options* options) {
  return guarded([&] {
    run<float>(layout, op_a, op_b, m, n, k, alpha, elements<Float16>(a), lda, stride_a,
               elements<Float16>(b), ldb, stride_b, beta, c, ldc, stride_c, batch, options);
  });
}

tessera_status tessera_sgemm_pointer_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             float alpha, const float* const* a, int64_t lda,
                                             const float* const* b, int64_t ldb, float beta,
                                             float* const* c, int64_t ldc, int64_t batch,
                                             const tessera_options* options) {
  return guarded([&] {
    run_pointers<float>(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch,
                        options);
  });
}

tessera_status tessera_dgemm_pointer_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             double alpha, const double* const* a, int64_t lda,
                                             const double* const* b, int64_t ldb, double beta,
                                             double* const* c, int64_t ldc, int64_t batch,
                                             const tessera_options* options) {
  return guarded([&] {
    run_pointers<double>(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch,
                         options);
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
    desc.dtype = output_of(dtype);
    desc.input = dtype_of(dtype);
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

const char* tessera_last_error(void) { return c_api::last_error(); }

const char* tessera_version(void) { return TESSERA_VERSION; }

}  // extern "C"
