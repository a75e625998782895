// The C++ call, timed where it is made: what bench/python_overhead.py compares a call from Python
// with.
#include <chrono>

#include "array.h"
#include "bindings.h"
#include "layout.h"
#include "tessera/gemm.h"

namespace tessera::python {
namespace {

/// Seconds that `count` calls of tessera::gemm take on three float32 matrices.
double seconds_of_cpp_calls(nb::handle a_object, nb::handle b_object, nb::handle out_object,
                            int count) {
  const Array a("timing", "a", a_object), b("timing", "b", b_object),
      c("timing", "out", out_object);
  const Matrix x = matrix_or_raise("timing", a), y = matrix_or_raise("timing", b);
  const Matrix z = matrix_or_raise("timing", c);
  const nb::gil_scoped_release no_gil;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    gemm(Op::kN, Op::kN, 1.0f,
         {reinterpret_cast<const float*>(x.data), x.rows, x.cols, x.ld, x.layout},
         {reinterpret_cast<const float*>(y.data), y.rows, y.cols, y.ld, y.layout}, 0.0f,
         {reinterpret_cast<float*>(z.data), z.rows, z.cols, z.ld, z.layout});
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void bind_timing(nb::module_& m) {
  m.def("seconds_of_cpp_calls", &seconds_of_cpp_calls, nb::arg("a"), nb::arg("b"), nb::arg("out"),
        nb::arg("count"));
}

}  // namespace tessera::python
