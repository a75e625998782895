// dnnl_sgemm and its OpenMP, right but slow.
#include <cstdint>

namespace {
int threads = 1;
}

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int dnnl_sgemm(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                        float alpha, const float* a, std::int64_t lda, const float* b,
                        std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += (trans_a == 'T' ? a[p * lda + i] : a[i * lda + p]) *
               (trans_b == 'T' ? b[j * ldb + p] : b[p * ldb + j]);
      }
      c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
    }
  }
  return 0;
}

struct Version {
  int major, minor, patch;
};
EXPORTED const Version* dnnl_version() {
  static const Version version{9, 8, 7};
  return &version;
}
EXPORTED unsigned dnnl_get_effective_cpu_isa() { return 0x7; }
EXPORTED void omp_set_num_threads(int n) { threads = n; }
EXPORTED int omp_get_max_threads() { return threads; }

}  // extern "C"
