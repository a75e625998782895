/* The C interface of Tessera. Names, values and struct layouts here stay stable within a major
 * version: functions and enumerators are only added, and tessera_options grows at its end.
 *
 * Conventions: sizes, leading dimensions and strides are 64-bit and counted in elements; argument
 * order and names follow CBLAS. A function returns TESSERA_OK or an error status; the message of
 * the calling thread's latest error is tessera_last_error(). No function prints or exits. All are
 * safe to call from many threads at once.
 */
#ifndef TESSERA_TESSERA_H_
#define TESSERA_TESSERA_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_INVALID_ARGUMENT = 1, /* an argument breaks a rule; outputs are untouched */
  TESSERA_UNSUPPORTED = 2,      /* no kernel, or not the named one, can do it */
  TESSERA_NO_DEVICE = 3,        /* the device does not exist or cannot be used */
  TESSERA_OUT_OF_MEMORY = 4,
  TESSERA_DEVICE_FAILURE = 5, /* a CUDA call or launch failed */
  TESSERA_INTERNAL = 6        /* a defect of Tessera */
} tessera_status;

typedef enum tessera_layout { TESSERA_ROW_MAJOR = 101, TESSERA_COL_MAJOR = 102 } tessera_layout;
typedef enum tessera_op { TESSERA_OP_N = 111, TESSERA_OP_T = 112 } tessera_op;
typedef enum tessera_dtype { TESSERA_F32 = 0, TESSERA_F64 = 1 } tessera_dtype;
typedef enum tessera_space { TESSERA_HOST = 0, TESSERA_CUDA = 1 } tessera_space;

/* Arithmetic. NATIVE is the operands' own; the reduced kinds are refused until a kernel has them.
 */
typedef enum tessera_precision {
  TESSERA_PRECISION_NATIVE = 0,
  TESSERA_PRECISION_FP32 = 1,
  TESSERA_PRECISION_FP64 = 2,
  TESSERA_PRECISION_TF32 = 3,
  TESSERA_PRECISION_BF16 = 4,
  TESSERA_PRECISION_FP16 = 5,
  TESSERA_PRECISION_FP32_TENSOR = 6
} tessera_precision;

/* What stays bit-identical; see tessera/precision.h for the conditions of each. */
typedef enum tessera_determinism {
  TESSERA_RUN_TO_RUN = 0,
  TESSERA_BATCH_INVARIANT = 1
} tessera_determinism;

/* How to compute. Fill with tessera_options_init, then change fields. */
typedef struct tessera_options {
  size_t struct_size; /* sizeof(tessera_options) of the caller's header */
  tessera_space space;
  tessera_precision precision;
  tessera_determinism determinism;
  const char* kernel; /* "auto", an id, a family or a stem; NULL is "auto" */
  int threads;        /* CPU threads; 0 is the default */
  void* stream;       /* cudaStream_t for TESSERA_CUDA; NULL is the default stream */
} tessera_options;

/* Sets the defaults: host memory, native precision, run-to-run, "auto", default threads. NULL is
 * fine, and nothing is set. */
void tessera_options_init(tessera_options* options);

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

/* `batch` products; the i-th uses a + i * stride_a, b + i * stride_b, c + i * stride_c. */
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

/* A product prepared once and run many times; runs allocate nothing. One plan may run from many
 * threads at once, each with its own workspace. */
typedef struct tessera_plan tessera_plan;

tessera_status tessera_plan_create(tessera_plan** plan, tessera_dtype dtype, tessera_layout layout,
                                   tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                   int64_t k, int64_t lda, int64_t ldb, int64_t ldc,
                                   const tessera_options* options);
void tessera_plan_destroy(tessera_plan* plan); /* NULL is fine */
/* Bytes of workspace a run needs, in the operands' memory space, at a multiple of 256. Of a NULL
 * plan this and the two after it are 0, "" and "". */
size_t tessera_plan_workspace_bytes(const tessera_plan* plan);
/* The chosen kernel's id; lives as long as the plan. */
const char* tessera_plan_kernel(const tessera_plan* plan);
/* Why it was chosen, in several lines; lives as long as the plan. */
const char* tessera_plan_explanation(const tessera_plan* plan);
/* alpha and beta are rounded to the plan's type. stream is used for TESSERA_CUDA only. */
tessera_status tessera_plan_run(const tessera_plan* plan, double alpha, const void* a,
                                const void* b, double beta, void* c, void* workspace,
                                size_t workspace_bytes, void* stream);

/* Message of the calling thread's latest error, one line of at most 1023 bytes; "" when there was
 * none. */
const char* tessera_last_error(void);
/* "major.minor.patch". */
const char* tessera_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TESSERA_TESSERA_H_ */
