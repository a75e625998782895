// The functions of libtessera_blas, as the reference BLAS, CBLAS and MKL declare them: integers of
// 32 bits (LP64), enumerators as int.
#pragma once

extern "C" {

// Fortran compilers pass the lengths of texts behind all other arguments, many C callers do not.
// They are not declared: a callee may overwrite the place of an argument it declares, and in such a
// caller that place belongs to somebody else.
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
                 const double* a, int lda, const double* b, int ldb, double beta, double* c,
                 int ldc);

// Groups of products of one shape: a, b and c have a pointer for each product, those of the first
// group first; the other arrays have an element for each group.
void cblas_sgemm_batch(int layout, const int* transa, const int* transb, const int* m, const int* n,
                       const int* k, const float* alpha, const float** a, const int* lda,
                       const float** b, const int* ldb, const float* beta, float** c,
                       const int* ldc, int group_count, const int* group_size);
void cblas_dgemm_batch(int layout, const int* transa, const int* transb, const int* m, const int* n,
                       const int* k, const double* alpha, const double** a, const int* lda,
                       const double** b, const int* ldb, const double* beta, double** c,
                       const int* ldc, int group_count, const int* group_size);
}
