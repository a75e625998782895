// Products given by pointer, shape and strides: how tessera.torch calls without a build dependency
// on PyTorch.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "multiply.h"
#include "raise.h"

namespace tessera::python {
namespace {

std::int64_t integer_at(nb::handle tuple, int i) {
  PyObject* const item = PyTuple_GetItem(tuple.ptr(), i);
  const long long value = item == nullptr ? -1 : PyLong_AsLongLong(item);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

/// operand is (address, shape, strides in elements).
Strided strided(const std::string& operation, const char* name, nb::handle operand, bool f64,
                int device) {
  Strided x;
  x.name = name;
  x.dtype = f64 ? DType::kF64 : DType::kF32;
  x.space = device < 0 ? Space::kHost : Space::kCuda;
  x.device = device;
  PyObject* const address = PyTuple_GetItem(operand.ptr(), 0);
  if (address == nullptr) throw nb::python_error();
  x.data = static_cast<char*>(PyLong_AsVoidPtr(address));
  const nb::handle shape = PyTuple_GetItem(operand.ptr(), 1);
  const nb::handle strides = PyTuple_GetItem(operand.ptr(), 2);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  const Py_ssize_t dims = PyTuple_Size(shape.ptr());
  if (dims < 0) throw nb::python_error();
  if (dims > kMostDims) {
    raise(PyExc_ValueError, fmt::format("{}: {} has {} dimensions: at most {} are supported",
                                        operation, name, dims, kMostDims));
  }
  x.ndim = static_cast<int>(dims);
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  for (int i = 0; i < x.ndim; ++i) {
    x.shape[i] = integer_at(shape, i);
    x.strides[i] = integer_at(strides, i) * size;
  }
  return x;
}

/// 0 when done; else nothing was done, because ld cannot say the layout of a (bit 0) or b (bit 1).
int multiply_pointers(const std::string& operation, nb::handle a_operand, nb::handle b_operand,
                      nb::handle out_operand, bool f64, int device, double alpha, double beta,
                      bool trans_a, bool trans_b, const std::string& kernel, std::uintptr_t stream,
                      nb::handle allocate, bool only_check) {
  const Strided a = strided(operation, "a", a_operand, f64, device);
  const Strided b = strided(operation, "b", b_operand, f64, device);
  const Strided out = strided(operation, "out", out_operand, f64, device);
  Request request{operation.c_str(), trans_a, trans_b, alpha, beta, {}};
  request.options.kernel = kernel;
  request.options.stream = reinterpret_cast<void*>(stream);
  check_out(request, a, b, out);
  const int to_copy = (matrix_of(a) ? 0 : 1) | (matrix_of(b) ? 0 : 2);
  if (to_copy != 0) return to_copy;
  Allocate scratch;
  if (!allocate.is_none()) {
    scratch = [&](std::size_t bytes) {
      return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(allocate(bytes)));
    };
  }
  multiply(request, a, b, out, scratch, only_check);
  return 0;
}

}  // namespace

void bind_pointers(nb::module_& m) {
  m.def("multiply_pointers", &multiply_pointers, nb::arg("operation"), nb::arg("a"), nb::arg("b"),
        nb::arg("out"), nb::arg("f64"), nb::arg("device"), nb::arg("alpha"), nb::arg("beta"),
        nb::arg("trans_a"), nb::arg("trans_b"), nb::arg("kernel"), nb::arg("stream"),
        nb::arg("allocate").none(), nb::arg("only_check") = false);
}

}  // namespace tessera::python
