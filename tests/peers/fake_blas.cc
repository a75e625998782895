// A BLAS of every kind at once, right but slow. FAKE_BLAS in the environment gives it one fault.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool fault(const char* name) {
  const char* value = std::getenv("FAKE_BLAS");
  return value != nullptr && std::strcmp(value, name) == 0;
}

/// What it takes the processor for, decided once when it is loaded: an old one unless told.
std::string core_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "Prescott";
}
const std::string openblas_core = core_from("OPENBLAS_CORETYPE");
const std::string blis_core = core_from("BLIS_ARCH_TYPE");

int threads = 1;
int threads_of_last_call = 0;

template <class T>
void gemm(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda,
          const T* b, int ldb, T beta, T* c, int ldc) {
  if (fault("abort")) std::abort();
  if (fault("exit")) std::_Exit(3);
  if (order != 101) std::abort();
  threads_of_last_call = threads;
  const bool is_slow = openblas_core == "Prescott" && fault("slow");
  for (int i = 0; i < m; ++i) {
    T* row = c + std::int64_t{i} * ldc;
    for (int j = 0; j < n; ++j) row[j] = beta == 0 ? T{0} : beta * row[j];
    for (int p = 0; p < k; ++p) {
      const T x =
          alpha * (trans_a == 112 ? a[std::int64_t{p} * lda + i] : a[std::int64_t{i} * lda + p]);
      const auto add = [&](T factor) {
        if (trans_b == 112) {
          for (int j = 0; j < n; ++j) row[j] += factor * b[std::int64_t{j} * ldb + p];
        } else {
          for (int j = 0; j < n; ++j) row[j] += factor * b[std::int64_t{p} * ldb + j];
        }
      };
      add(x);
      for (int again = 0; is_slow && again < 2; ++again) {
        add(-x);
        add(x);
      }
    }
  }
  if (fault("wrong")) c[0] += 1;
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                          const float* a, int lda, const float* b, int ldb, float beta, float* c,
                          int ldc) {
  gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
EXPORTED void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                          const double* a, int lda, const double* b, int ldb, double beta,
                          double* c, int ldc) {
  gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
/// For the test: with how many threads it was last called.
EXPORTED int fake_threads_of_last_call() { return threads_of_last_call; }

EXPORTED const char* openblas_get_config() {
  return fault("wide") ? "OpenBLAS 9.8.7 USE64BITINT" : "OpenBLAS 9.8.7 DYNAMIC_ARCH MAX_THREADS=4";
}
EXPORTED const char* openblas_get_corename() { return openblas_core.c_str(); }
EXPORTED void openblas_set_num_threads(int n) {
  if (!fault("one thread")) threads = n;
}
EXPORTED int openblas_get_num_threads() { return threads; }

EXPORTED void bli_init() {}
EXPORTED const char* bli_info_get_version_str() { return "0.8.15"; }
EXPORTED std::int64_t bli_info_get_blas_int_type_size() { return fault("wide") ? 64 : 32; }
EXPORTED int bli_arch_query_id() { return 42; }
EXPORTED const char* bli_arch_string(int id) { return id == 42 ? blis_core.c_str() : "none"; }
EXPORTED void bli_thread_set_num_threads(std::int64_t n) { threads = static_cast<int>(n); }
EXPORTED std::int64_t bli_thread_get_num_threads() { return threads; }

struct Version {
  int major, minor, update;
  const char *status, *build, *processor, *platform;
};
EXPORTED void MKL_Get_Version(Version* v) { *v = {2099, 1, 2, "", "", "old instructions", ""}; }
EXPORTED int MKL_Set_Interface_Layer(int wanted) { return fault("wide") ? 1 : wanted; }
EXPORTED void MKL_Set_Dynamic(int) {}
EXPORTED void MKL_Set_Num_Threads(int n) { threads = n; }
EXPORTED int MKL_Get_Max_Threads() { return threads; }

}  // extern "C"
