// A library that has some of the functions of a BLAS, but not those that matter.
extern "C" __attribute__((visibility("default"))) const char* openblas_get_config() {
  return "OpenBLAS 9.8.7";
}
