/* The C header from a C compiler: every function once, and its errors. Exit code 0 is a pass. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

static int failures = 0;

static void expect(int ok, const char* what) {
  if (!ok) {
    printf("FAILED: %s (last error: %s)\n", what, tessera_last_error());
    ++failures;
  }
}

/* A 1 x 1 product with these options. */
static tessera_status small(const tessera_options* options) {
  const float a = 2, b = 3;
  float c = -1;
  const tessera_status status = tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1,
                                              1, 1, &a, 1, &b, 1, 0, &c, 1, options);
  expect(c == (status == TESSERA_OK ? 6.0f : -1.0f), "C is the product, or untouched");
  return status;
}

static void expect_refused(const tessera_options* options, const char* part) {
  expect(small(options) == TESSERA_INVALID_ARGUMENT && strstr(tessera_last_error(), part) != NULL,
         part);
}

/* Every thread has a latest error of its own. */
static void* no_error_here(void* unused) {
  (void)unused;
  expect(strcmp(tessera_last_error(), "") == 0, "another thread's error stays there");
  return NULL;
}

static void test_batched_plan(void) {
  const double a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
  double c[2] = {-1, -1};
  tessera_options options;
  tessera_options_init(&options);
  options.kernel = "cpu.naive";
  options.alignment = 8;
  tessera_plan* plan = NULL;
  /* Two 1 x 2 times 2 x 1, the same B for both. */
  expect(tessera_plan_create_strided_batched(&plan, TESSERA_F64, TESSERA_ROW_MAJOR, TESSERA_OP_N,
                                             TESSERA_OP_N, 1, 1, 2, 2, 2, 1, 0, 1, 1, 2,
                                             &options) == TESSERA_OK,
         "batched plan");
  if (plan != NULL) {
    expect(tessera_plan_run(plan, 1, a, b, 0, c, NULL, 0, NULL) == TESSERA_OK && c[0] == 17 &&
               c[1] == 39,
           "batched plan run");
    expect(tessera_plan_run(plan, 1, (const char*)a + 4, b, 0, c, NULL, 0, NULL) ==
               TESSERA_INVALID_ARGUMENT,
           "a pointer that breaks the promised alignment");
  }
  tessera_plan_destroy(plan);
  expect(tessera_plan_create_strided_batched(&plan, TESSERA_F64, TESSERA_ROW_MAJOR, TESSERA_OP_N,
                                             TESSERA_OP_N, 1, 1, 2, 2, 2, 1, 0, 1, 0, 2,
                                             &options) == TESSERA_INVALID_ARGUMENT &&
             plan == NULL,
         "overlapping C");
  options.alignment = 3;
  expect(tessera_plan_create(&plan, TESSERA_F64, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1,
                             1, 2, 2, 1, 1, &options) == TESSERA_INVALID_ARGUMENT,
         "alignment is a power of two");
}

static tessera_status verify_2x2(const float* c, double beta, const float* c0,
                                 tessera_verify_report* report) {
  static const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12};
  return tessera_verify(TESSERA_F32, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a,
                        3, b, 2, beta, c0, 2, c, 2, TESSERA_VERIFY_FREIVALDS, 1, report);
}

static void test_verify(void) {
  const float right[4] = {58, 64, 139, 154}, wrong[4] = {58, 64, 139, 155};
  const float twice[4] = {116, 128, 278, 308};
  tessera_verify_report report;
  expect(verify_2x2(right, 0, NULL, &report) == TESSERA_OK && report.passed == 1 &&
             report.row == -1 && report.method == TESSERA_VERIFY_FULL && report.worst_ratio <= 1,
         "a right product");
  expect(verify_2x2(wrong, 0, NULL, &report) == TESSERA_OK && report.passed == 0 &&
             report.row == 1 && report.col == 1 && report.expected == 154 && report.got == 155,
         "a wrong element");
  expect(verify_2x2(twice, 1, right, &report) == TESSERA_OK && report.passed == 1, "with C0");
  expect(verify_2x2(twice, 1, NULL, &report) == TESSERA_INVALID_ARGUMENT && report.passed == 0,
         "beta without C0");
  expect(verify_2x2(right, 0, NULL, NULL) == TESSERA_INVALID_ARGUMENT, "no report");
  expect(verify_2x2(NULL, 0, NULL, &report) == TESSERA_INVALID_ARGUMENT, "no C");
  expect(tessera_verify(TESSERA_F32, TESSERA_COL_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 1, 1, 1,
                        right, 1, right, 1, 0, NULL, 1, right, 2, TESSERA_VERIFY_FULL, 1,
                        &report) == TESSERA_OK &&
             report.passed == 0 && report.row == 0,
         "column-major");
  expect(tessera_verify(TESSERA_F32, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1,
                        right, 1, right, 2, 0, NULL, 2, right, 2, TESSERA_VERIFY_FULL, 1,
                        &report) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "ld = 1") != NULL,
         "an ld below the row");
}

/* 1, 2, 3 and 4 as bfloat16 and as binary16. */
static const tessera_bf16 bf16s[4] = {0x3f80, 0x4000, 0x4040, 0x4080};
static const tessera_f16 f16s[4] = {0x3c00, 0x4000, 0x4200, 0x4400};

static void test_half(void) {
  const float square[4] = {7, 10, 15, 22};
  float c[4] = {-1, -1, -1, -1};
  expect(tessera_sbgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1, bf16s, 2, bf16s,
                        2, 0, c, 2, NULL) == TESSERA_OK &&
             memcmp(c, square, sizeof c) == 0,
         "sbgemm");
  expect(tessera_shgemm(TESSERA_COL_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 2, f16s, 2, f16s, 2,
                        -1, c, 2, NULL) == TESSERA_OK &&
             memcmp(c, square, sizeof c) == 0,
         "shgemm");
  /* 1, 2 and then 3, 4 times 1, 2. */
  expect(
      tessera_sbgemm_strided_batched(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_T, 1, 1, 2, 1,
                                     bf16s, 2, 2, bf16s, 2, 0, 0, c, 1, 1, 2, NULL) == TESSERA_OK &&
          c[0] == 5 && c[1] == 11,
      "sbgemm strided batched");
  expect(
      tessera_shgemm_strided_batched(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_T, 1, 1, 2, 1,
                                     f16s, 2, 2, f16s, 2, 0, 1, c, 1, 1, 2, NULL) == TESSERA_OK &&
          c[0] == 10 && c[1] == 22,
      "shgemm strided batched");
  expect(tessera_sbgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1, bf16s, 1, bf16s,
                        2, 0, c, 2, NULL) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "lda = 1") != NULL,
         "sbgemm ld");
  expect(tessera_shgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1, f16s, 2, NULL, 2,
                        0, c, 2, NULL) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "B is null") != NULL,
         "shgemm null");
  expect(tessera_shgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1, f16s, 2,
                        (const tessera_f16*)c + 7, 2, 0, c, 2, NULL) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "C shares memory with B") != NULL,
         "shgemm alias");
  expect(c[0] == 10 && c[1] == 22, "C is untouched by refused calls");

  const tessera_dtype types[2] = {TESSERA_BF16, TESSERA_F16};
  const void* elements[2] = {bf16s, f16s};
  for (int i = 0; i < 2; ++i) {
    tessera_plan* plan = NULL;
    tessera_options options;
    tessera_options_init(&options);
    options.kernel = "cpu.naive";
    options.precision = i == 0 ? TESSERA_PRECISION_BF16 : TESSERA_PRECISION_FP16;
    expect(tessera_plan_create(&plan, types[i], TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2,
                               2, 2, 2, 2, &options) == TESSERA_OK &&
               strcmp(tessera_plan_kernel(plan), i == 0 ? "cpu.naive.bf16" : "cpu.naive.f16") == 0,
           "16-bit plan");
    expect(tessera_plan_run(plan, 1, elements[i], elements[i], 0, c, NULL, 0, NULL) == TESSERA_OK &&
               memcmp(c, square, sizeof c) == 0,
           "16-bit plan run");
    tessera_plan_destroy(plan);
    tessera_verify_report report;
    expect(tessera_verify(types[i], TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1,
                          elements[i], 2, elements[i], 2, 0, NULL, 2, c, 2, TESSERA_VERIFY_FULL, 1,
                          &report) == TESSERA_OK &&
               report.passed == 1,
           "16-bit product verified");
    c[3] = 22.25f;
    expect(tessera_verify(types[i], TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 2, 1,
                          elements[i], 2, elements[i], 2, 0, NULL, 2, c, 2, TESSERA_VERIFY_FULL, 1,
                          &report) == TESSERA_OK &&
               report.passed == 0 && report.row == 1 && report.col == 1 && report.expected == 22,
           "a wrong element among them");
  }
}

static void test_pointer_batches(void) {
  const float a[2] = {2, 3}, b[2] = {5, 7};
  float c[2] = {1, 1};
  const float *as[2] = {a, a + 1}, *bs[2] = {b + 1, b};
  float* cs[2] = {c + 1, c};
  expect(tessera_sgemm_pointer_batched(TESSERA_COL_MAJOR, TESSERA_OP_N, TESSERA_OP_T, 1, 1, 1, 2,
                                       as, 1, bs, 1, 1, cs, 1, 2, NULL) == TESSERA_OK &&
             c[1] == 29 && c[0] == 31,
         "sgemm pointer batched");
  const double ad[1] = {2};
  const double* ads[2] = {ad, ad};
  double cd[1] = {-4};
  double* cds[2] = {cd, NULL};
  expect(
      tessera_dgemm_pointer_batched(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1, 1, 1, ads,
                                    1, ads, 1, 0, cds, 1, 2, NULL) == TESSERA_INVALID_ARGUMENT &&
          strstr(tessera_last_error(), "C[1] is null") != NULL && cd[0] == -4,
      "a null member");
  expect(tessera_dgemm_pointer_batched(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1, 1, 1,
                                       ads, 1, ads, 1, 0, cds, 1, 1, NULL) == TESSERA_OK &&
             cd[0] == 4,
         "dgemm pointer batched");
}

int main(void) {
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12};
  float c[4] = {-1, -1, -1, -1};
  tessera_options options;
  tessera_options_init(&options);

  expect(strcmp(tessera_last_error(), "") == 0, "no error at first");
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, NULL) == TESSERA_OK,
         "sgemm");
  expect(c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154, "sgemm result");
  expect(tessera_sgemm(TESSERA_COL_MAJOR, TESSERA_OP_T, TESSERA_OP_T, 2, 2, 3, 2, a, 3, b, 2, 1, c,
                       2, &options) == TESSERA_OK,
         "column-major sgemm");
  /* op(A) is A's rows, op(B) = B^T of the column-major 2 x 3 matrix: the same product, transposed.
   */
  expect(
      c[0] == 58 + 2 * 58 && c[1] == 64 + 2 * 139 && c[2] == 139 + 2 * 64 && c[3] == 154 + 2 * 154,
      "column-major result");

  const double ad[2] = {3, 4}, bd[2] = {5, 6};
  double cd[2] = {0, 0};
  expect(tessera_dgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1, 2, 1, ad, 2, bd, 1, 0,
                       cd, 1, NULL) == TESSERA_OK &&
             cd[0] == 39,
         "dgemm");
  expect(tessera_dgemm_strided_batched(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1, 1, 1,
                                       ad, 1, 1, bd, 1, 1, 0, cd, 1, 1, 2, NULL) == TESSERA_OK &&
             cd[0] == 15 && cd[1] == 24,
         "dgemm batched");
  float cs[2] = {0, 0};
  expect(tessera_sgemm_strided_batched(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1, 1, 1, a,
                                       1, 1, b, 1, 0, 0, cs, 1, 1, 2, NULL) == TESSERA_OK &&
             cs[0] == 7 && cs[1] == 14,
         "sgemm batched");

  test_half();
  test_pointer_batches();
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 2, b, 2, 0, c,
                       2, NULL) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "lda = 2") != NULL,
         "small lda");
  expect(tessera_sgemm((tessera_layout)7, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, NULL) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "layout = 7") != NULL,
         "bad layout");
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, (tessera_op)0, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, NULL) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "op_b = 0") != NULL,
         "bad op");
  options.kernel = "cpu.quick";
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, &options) == TESSERA_INVALID_ARGUMENT &&
             strstr(tessera_last_error(), "cpu.quick") != NULL,
         "unknown kernel");
  options.kernel = "cpu.naive";
  options.precision = TESSERA_PRECISION_TF32;
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, &options) == TESSERA_UNSUPPORTED,
         "tf32");
  options.precision = TESSERA_PRECISION_FP32;
  options.determinism = TESSERA_BATCH_INVARIANT;
  expect(small(&options) == TESSERA_UNSUPPORTED, "batch_invariant");
  options.determinism = (tessera_determinism)2;
  expect_refused(&options, "options.determinism = 2");
  options.determinism = TESSERA_RUN_TO_RUN;
  options.precision = (tessera_precision)7;
  expect_refused(&options, "options.precision = 7");
  options.precision = TESSERA_PRECISION_FP64;
  expect(small(&options) == TESSERA_UNSUPPORTED, "fp64 on f32 operands");
  options.precision = TESSERA_PRECISION_FP32;
  options.space = (tessera_space)2;
  expect_refused(&options, "options.space = 2");
  options.space = TESSERA_HOST;
  options.threads = -1;
  expect_refused(&options, "threads = -1");
  options.threads = 0;
  options.struct_size = 3;
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, &options) == TESSERA_INVALID_ARGUMENT,
         "struct_size");
  options.struct_size = sizeof options + 1;
  expect(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c,
                       2, &options) == TESSERA_INVALID_ARGUMENT,
         "struct_size of a newer header");
  options.struct_size = sizeof options;
  options.threads = 3;

  /* Writes no more than the size it is told, so that a caller with an older header is safe. */
  tessera_options part;
  memset(&part, 0x5a, sizeof part);
  tessera_options_init_sized(&part, sizeof(size_t));
  const unsigned char* rest = (const unsigned char*)&part + sizeof(size_t);
  expect(part.struct_size == sizeof(size_t) && *rest == 0x5a, "init of a shorter struct");
  tessera_options_init_sized(&part, sizeof part + 64);
  expect(part.struct_size == sizeof part, "init of a longer struct");

  tessera_plan* plan = NULL;
  expect(tessera_plan_create(&plan, TESSERA_F32, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2,
                             2, 3, 3, 2, 2, &options) == TESSERA_OK &&
             plan != NULL,
         "plan");
  if (plan != NULL) {
    expect(strcmp(tessera_plan_kernel(plan), "cpu.naive.f32") == 0, "plan kernel");
    expect(strstr(tessera_plan_explanation(plan), "cpu.naive.f32") != NULL, "plan explanation");
    expect(tessera_plan_workspace_bytes(plan) == 0, "naive needs no workspace");
    expect(tessera_plan_threads(plan) == 3, "plan threads");
    memset(c, 0, sizeof c);
    expect(tessera_plan_run(plan, 1, a, b, 0, c, NULL, 0, NULL) == TESSERA_OK && c[3] == 154,
           "plan run");
    expect(tessera_plan_run(plan, 1, a, a, 1, (void*)a, NULL, 0, NULL) == TESSERA_INVALID_ARGUMENT,
           "alias");
  }
  tessera_plan_destroy(plan);

  /* An FP64 plan of op(A) = A^T in column-major order. */
  expect(tessera_plan_create(&plan, TESSERA_F64, TESSERA_COL_MAJOR, TESSERA_OP_T, TESSERA_OP_N, 1,
                             1, 2, 2, 2, 1, NULL) == TESSERA_OK,
         "FP64 plan");
  if (plan != NULL) {
    void* workspace = aligned_alloc(256, tessera_plan_workspace_bytes(plan) / 256 * 256 + 256);
    cd[0] = 100;
    expect(tessera_plan_run(plan, 2, ad, bd, 0.5, cd, workspace, tessera_plan_workspace_bytes(plan),
                            NULL) == TESSERA_OK &&
               cd[0] == 2 * 39 + 50,
           "FP64 plan run");
    free(workspace);
  }
  tessera_plan_destroy(plan);
  expect(tessera_plan_create(NULL, TESSERA_F32, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1,
                             1, 1, 1, 1, NULL) == TESSERA_INVALID_ARGUMENT,
         "no place for a plan");
  expect(tessera_plan_create(&plan, (tessera_dtype)9, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N,
                             1, 1, 1, 1, 1, 1, NULL) == TESSERA_INVALID_ARGUMENT &&
             plan == NULL && strstr(tessera_last_error(), "dtype = 9") != NULL,
         "unknown dtype, and no plan");
  expect(tessera_plan_run(NULL, 1, a, b, 0, c, NULL, 0, NULL) == TESSERA_INVALID_ARGUMENT,
         "no plan to run");
  pthread_t thread;
  if (pthread_create(&thread, NULL, no_error_here, NULL) == 0) pthread_join(thread, NULL);
  tessera_plan_destroy(NULL);
  tessera_options_init(NULL);
  expect(tessera_plan_workspace_bytes(NULL) == 0 && tessera_plan_kernel(NULL)[0] == 0 &&
             tessera_plan_explanation(NULL)[0] == 0,
         "questions to no plan");
  expect(tessera_plan_run(NULL, 1, a, b, 0, c, NULL, 0, NULL) == TESSERA_INVALID_ARGUMENT,
         "run of no plan");
  expect(tessera_plan_create(NULL, TESSERA_F32, TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2,
                             3, 3, 2, 2, NULL) == TESSERA_INVALID_ARGUMENT,
         "no place for the plan");
  test_batched_plan();
  test_verify();
  expect(strlen(tessera_version()) >= 5, "version");
  if (failures == 0) printf("the C interface works\n");
  return failures == 0 ? 0 : 1;
}
