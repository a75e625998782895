/* The C interface of Tessera. Names, values and struct layouts here stay stable within a major
 * version: functions and enumerators are only added, and tessera_options grows at its end.
 *
 * Conventions: sizes, leading dimensions and strides are 64-bit and counted in elements; argument
 * order and names follow CBLAS. A function returns TESSERA_OK or an error status; the message of
 * the calling thread's latest error is tessera_last_error(). No function prints or exits. All are
 * safe to call from many threads at once. Calls on TESSERA_CUDA memory enqueue work and return;
 * the caller's current device is left as it was (tessera/gemm.h).
 */
#ifndef TESSERA_TESSERA_H_
#define TESSERA_TESSERA_H_

#include <stddef.h>
#include <stdint.h>

/* In C++ a value outside an enumeration without a base type must not even be read; with one it can
 * be refused by name. The size is that of int in both languages. */
#ifdef __cplusplus
#define TESSERA_ENUM_BASE : int
extern "C" {
#else
#define TESSERA_ENUM_BASE
#endif

typedef enum tessera_status TESSERA_ENUM_BASE {
  TESSERA_OK = 0,
  TESSERA_INVALID_ARGUMENT = 1, /* an argument breaks a rule; outputs are untouched */
  TESSERA_UNSUPPORTED = 2,      /* no kernel, or not the named one, can do it */
  TESSERA_NO_DEVICE = 3,        /* the device does not exist or cannot be used */
  TESSERA_OUT_OF_MEMORY = 4,
  TESSERA_DEVICE_FAILURE = 5, /* a CUDA call or launch failed */
  TESSERA_INTERNAL = 6,       /* a defect of Tessera */
  TESSERA_CANCELLED = 7       /* a progress callback asked to stop */
} tessera_status;

typedef enum tessera_layout TESSERA_ENUM_BASE {
  TESSERA_ROW_MAJOR = 101,
  TESSERA_COL_MAJOR = 102
} tessera_layout;
typedef enum tessera_op TESSERA_ENUM_BASE { TESSERA_OP_N = 111, TESSERA_OP_T = 112 } tessera_op;
/* Elements of A and B. C, alpha and beta are of that type too, and float beside the 16-bit ones. */
typedef enum tessera_dtype TESSERA_ENUM_BASE {
  TESSERA_F32 = 0,
  TESSERA_F64 = 1,
  TESSERA_BF16 = 2, /* tessera_bf16 */
  TESSERA_F16 = 3   /* tessera_f16 */
} tessera_dtype;
/* The bits of a bfloat16 and of an IEEE binary16. */
typedef uint16_t tessera_bf16;
typedef uint16_t tessera_f16;
typedef enum tessera_space TESSERA_ENUM_BASE { TESSERA_HOST = 0, TESSERA_CUDA = 1 } tessera_space;

/* Arithmetic. NATIVE is the operands' own; BF16 and FP16 say what A and B of that type are, and no
 * operand is rounded; the other reduced kinds are refused until a kernel has them. */
typedef enum tessera_precision TESSERA_ENUM_BASE {
  TESSERA_PRECISION_NATIVE = 0,
  TESSERA_PRECISION_FP32 = 1,
  TESSERA_PRECISION_FP64 = 2,
  TESSERA_PRECISION_TF32 = 3,
  TESSERA_PRECISION_BF16 = 4,
  TESSERA_PRECISION_FP16 = 5,
  TESSERA_PRECISION_FP32_TENSOR = 6
} tessera_precision;

/* What stays bit-identical; see tessera/precision.h for the conditions of each. */
typedef enum tessera_determinism TESSERA_ENUM_BASE {
  TESSERA_RUN_TO_RUN = 0,
  TESSERA_BATCH_INVARIANT = 1
} tessera_determinism;

/* How to compute. Fill with tessera_options_init, then change fields. A library that knows more
 * fields than the caller's header uses their defaults. */
typedef struct tessera_options {
  size_t struct_size; /* sizeof(tessera_options) of the caller's header */
  tessera_space space;
  tessera_precision precision;
  tessera_determinism determinism;
  const char* kernel; /* "auto", an id, a family or a stem; NULL is "auto" */
  int threads;        /* CPU threads; 0 is the default */
  void* stream;       /* cudaStream_t for TESSERA_CUDA; NULL is the default stream. Not for plans:
                         tessera_plan_run takes its own */
  /* For plans only; calls with pointers see both from the pointers. */
  int device;    /* TESSERA_CUDA: device index; -1 is the calling thread's current device */
  int alignment; /* bytes, a power of two, that every pointer passed to tessera_plan_run will be a
                    multiple of; 1 promises no more than the element's own */
} tessera_options;

/* Sets the defaults: host memory, native precision, run-to-run, "auto", default threads, default
 * stream, current device, alignment 1. Call it as tessera_options_init(&options). */
void tessera_options_init_sized(tessera_options* options, size_t struct_size);
#define tessera_options_init(options) tessera_options_init_sized((options), sizeof(tessera_options))

/* C = alpha * op(A) * op(B) + beta * C; op(A) is m x k, op(B) k x n, C m x n, all of one layout.
 * options may be NULL. Semantics: tessera/gemm.h. */
tessera_status tessera_sgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                             int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                             const float* b, int64_t ldb, float beta, float* c, int64_t ldc,
                             const tessera_options* options);
tessera_status tessera_dgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                             int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
                             const double* b, int64_t ldb, double beta, double* c, int64_t ldc,
                             const tessera_options* options);

/* The same for A and B of bfloat16 (sb) or binary16 (sh): widened exactly, products and sums are
 * FP32. TESSERA_CUDA: refused. */
tessera_status tessera_sbgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                              int64_t n, int64_t k, float alpha, const tessera_bf16* a, int64_t lda,
                              const tessera_bf16* b, int64_t ldb, float beta, float* c, int64_t ldc,
                              const tessera_options* options);
tessera_status tessera_shgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m,
                              int64_t n, int64_t k, float alpha, const tessera_f16* a, int64_t lda,
                              const tessera_f16* b, int64_t ldb, float beta, float* c, int64_t ldc,
                              const tessera_options* options);

/* `batch` products; the i-th uses a + i * stride_a, b + i * stride_b, c + i * stride_c. stride_a
 * and stride_b may be 0 or negative; the C matrices may not overlap. */
tessera_status tessera_sgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             float alpha, const float* a, int64_t lda,
                                             int64_t stride_a, const float* b, int64_t ldb,
                                             int64_t stride_b, float beta, float* c, int64_t ldc,
                                             int64_t stride_c, int64_t batch,
                                             const tessera_options* options);
tessera_status tessera_dgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             double alpha, const double* a, int64_t lda,
                                             int64_t stride_a, const double* b, int64_t ldb,
                                             int64_t stride_b, double beta, double* c, int64_t ldc,
                                             int64_t stride_c, int64_t batch,
                                             const tessera_options* options);
tessera_status tessera_sbgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                              tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              float alpha, const tessera_bf16* a, int64_t lda,
                                              int64_t stride_a, const tessera_bf16* b, int64_t ldb,
                                              int64_t stride_b, float beta, float* c, int64_t ldc,
                                              int64_t stride_c, int64_t batch,
                                              const tessera_options* options);
tessera_status tessera_shgemm_strided_batched(tessera_layout layout, tessera_op op_a,
                                              tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              float alpha, const tessera_f16* a, int64_t lda,
                                              int64_t stride_a, const tessera_f16* b, int64_t ldb,
                                              int64_t stride_b, float beta, float* c, int64_t ldc,
                                              int64_t stride_c, int64_t batch,
                                              const tessera_options* options);

/* `batch` products of one shape whose matrices lie anywhere: the i-th uses a[i], b[i] and c[i]. The
 * C matrices may share no element with each other or with an input of any member. Host memory only
 * (TESSERA_UNSUPPORTED else). Details: gemm_pointer_batched in tessera/gemm.h. */
tessera_status tessera_sgemm_pointer_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             float alpha, const float* const* a, int64_t lda,
                                             const float* const* b, int64_t ldb, float beta,
                                             float* const* c, int64_t ldc, int64_t batch,
                                             const tessera_options* options);
tessera_status tessera_dgemm_pointer_batched(tessera_layout layout, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                             double alpha, const double* const* a, int64_t lda,
                                             const double* const* b, int64_t ldb, double beta,
                                             double* const* c, int64_t ldc, int64_t batch,
                                             const tessera_options* options);

/* A product prepared once and run many times; runs allocate nothing. One plan may run from many
 * threads at once, each with its own workspace. */
typedef struct tessera_plan tessera_plan;

tessera_status tessera_plan_create(tessera_plan** plan, tessera_dtype dtype, tessera_layout layout,
                                   tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                   int64_t k, int64_t lda, int64_t ldb, int64_t ldc,
                                   const tessera_options* options);
/* The same for `batch` products as above. */
tessera_status tessera_plan_create_strided_batched(tessera_plan** plan, tessera_dtype dtype,
                                                   tessera_layout layout, tessera_op op_a,
                                                   tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                                   int64_t lda, int64_t stride_a, int64_t ldb,
                                                   int64_t stride_b, int64_t ldc, int64_t stride_c,
                                                   int64_t batch, const tessera_options* options);
void tessera_plan_destroy(tessera_plan* plan); /* NULL is fine */
/* Bytes of workspace a run needs, in the operands' memory space, at a multiple of 256. Of a NULL
 * plan, numbers here and below are 0 and texts "". */
size_t tessera_plan_workspace_bytes(const tessera_plan* plan);
/* The chosen kernel's id; lives as long as the plan. */
const char* tessera_plan_kernel(const tessera_plan* plan);
/* Why it was chosen, and why no other, in several lines; lives as long as the plan. A call without
 * a plan makes the same choice for the same sizes, options and alignment. */
const char* tessera_plan_explanation(const tessera_plan* plan);
/* CPU threads a run uses at most; 1 for TESSERA_CUDA. */
int tessera_plan_threads(const tessera_plan* plan);
/* Semantics as tessera_sgemm; a and b point to elements of the plan's type, c to those of C. alpha
 * and beta are rounded to C's type. stream is used for TESSERA_CUDA only. */
tessera_status tessera_plan_run(const tessera_plan* plan, double alpha, const void* a,
                                const void* b, double beta, void* c, void* workspace,
                                size_t workspace_bytes, void* stream);

typedef enum tessera_verify_method TESSERA_ENUM_BASE {
  TESSERA_VERIFY_FREIVALDS = 0, /* random signs, O(mn + mk + kn); misses with 2^-20 at most */
  TESSERA_VERIFY_FULL = 1       /* every element, O(mnk) */
} tessera_verify_method;

/* What a check found; tessera/verify.h has the exact meaning of each field. */
typedef struct tessera_verify_report {
  int passed;                   /* 1 or 0 */
  tessera_verify_method method; /* the one used: small products are always checked in full */
  double worst_ratio;           /* of an error to its bound; at most 1 exactly when it passed */
  double detectable_error;      /* an error of one element above this is found */
  int64_t row, col;             /* of the first wrong element found; -1 when it passed */
  double expected, got, bound;  /* that element */
} tessera_verify_report;

/* Is C = alpha * op(A) * op(B) + beta * C0 right within the rounding of the elements' own
 * arithmetic? Host memory only; a and b hold elements of `dtype`, c0 and c those of C beside it,
 * and none is changed. c0, C before the product, is not read when beta == 0 and may then be NULL.
 * threads: 0 is the default. Returns TESSERA_OK when the check could be made, whatever it found. */
tessera_status tessera_verify(tessera_dtype dtype, tessera_layout layout, tessera_op op_a,
                              tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                              const void* a, int64_t lda, const void* b, int64_t ldb, double beta,
                              const void* c0, int64_t ldc0, const void* c, int64_t ldc,
                              tessera_verify_method method, int threads,
                              tessera_verify_report* report);

/* Message of the calling thread's latest error, one line of at most 1023 bytes; "" when there was
 * none. */
const char* tessera_last_error(void);
/* "major.minor.patch". */
const char* tessera_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TESSERA_TESSERA_H_ */
