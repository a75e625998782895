// Products of tensors whose library offers DLPack's C functions, which cost far less than a call
// of Python's for each shape, stride and pointer.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bindings.h"
#include "exchange.h"
#include "multiply.h"

namespace tessera::python {
namespace {

const DlExchange* exchange = nullptr;

/// True when the capsule's functions are of a version that is known here.
bool use_exchange(nb::handle capsule) {
  const auto* offered =
      static_cast<const DlExchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (offered == nullptr) throw nb::python_error();
  while (offered != nullptr && offered->version.major != 1) offered = offered->previous;
  exchange = offered;
  return exchange != nullptr;
}

struct Release {
  void operator()(DlManaged* tensor) const {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};
using Managed = std::unique_ptr<DlManaged, Release>;

void set_error(void*, const char* kind, const char* message) {
  const nb::object builtins = nb::module_::import_("builtins");
  const nb::object type = nb::getattr(builtins, kind, nb::handle(PyExc_RuntimeError));
  PyErr_SetString(type.ptr(), message);
}

Managed allocate(DlDevice device, DlDataType dtype, std::int64_t* shape, std::int32_t ndim) {
  DlTensor prototype{nullptr, device, ndim, dtype, shape, nullptr, 0};
  DlManaged* made = nullptr;
  if (exchange->allocate(&prototype, &made, nullptr, &set_error) != 0) throw nb::python_error();
  return Managed(made);
}

Strided strided(const char* name, const DlTensor& tensor) {
  Strided x;
  x.name = name;
  x.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  x.dtype = tensor.dtype.bits == 64 ? DType::kF64 : DType::kF32;
  x.space = tensor.device.type == kDlCuda ? Space::kCuda : Space::kHost;
  x.device = tensor.device.type == kDlCuda ? tensor.device.id : -1;
  x.ndim = tensor.ndim;
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  std::int64_t dense = size;
  for (int i = x.ndim - 1; i >= 0; --i) {
    x.shape[i] = tensor.shape[i];
    x.strides[i] = tensor.strides != nullptr ? tensor.strides[i] * size : dense;
    dense *= std::max<std::int64_t>(x.shape[i], 1);
  }
  return x;
}

/// A matrix of float32 or float64 in memory that a kernel can reach.
bool is_matrix(const DlTensor& t) {
  return t.ndim == 2 && (t.device.type == kDlCpu || t.device.type == kDlCuda) &&
         t.dtype.code == kDlFloat && t.dtype.lanes == 1 &&
         (t.dtype.bits == 32 || t.dtype.bits == 64);
}

/// alpha * op(a) * op(b) as a new tensor on the current stream; None where there is more to say
/// than that: tensors that do not fit together, or that must be copied first.
nb::object multiply_tensors(nb::handle a, nb::handle b, double alpha, bool trans_a, bool trans_b,
                            const std::string& kernel) {
  DlTensor x{}, y{};
  if (exchange->tensor_from_object(a.ptr(), &x) != 0 ||
      exchange->tensor_from_object(b.ptr(), &y) != 0) {
    PyErr_Clear();
    return nb::none();
  }
  const DlDevice device = x.device;
  if (!is_matrix(x) || !is_matrix(y) || x.dtype.bits != y.dtype.bits ||
      device.type != y.device.type || device.id != y.device.id ||
      x.shape[trans_a ? 0 : 1] != y.shape[trans_b ? 1 : 0]) {
    return nb::none();
  }
  const Strided left = strided("a", x), right = strided("b", y);
  if (!matrix_of(left) || !matrix_of(right)) return nb::none();

  Request request{"gemm", trans_a, trans_b, alpha, 0, {}};
  request.options.kernel = kernel;
  if (device.type == kDlCuda &&
      exchange->current_stream(device.type, device.id, &request.options.stream) != 0) {
    throw nb::python_error();
  }
  std::int64_t shape[2] = {x.shape[trans_a ? 1 : 0], y.shape[trans_b ? 0 : 1]};
  Managed out = allocate(device, x.dtype, shape, 2);
  std::vector<Managed> scratch;  // lives until the work is enqueued: the allocator keeps the order
  const Allocate allocate_scratch = [&](std::size_t bytes) {
    constexpr DlDataType kBytes = {kDlUnsigned, 8, 1};
    auto count = static_cast<std::int64_t>(bytes);
    scratch.push_back(allocate(device, kBytes, &count, 1));
    return scratch.back()->tensor.data;
  };
  multiply(request, left, right, strided("out", out->tensor),
           device.type == kDlCuda ? allocate_scratch : Allocate());
  void* object = nullptr;
  if (exchange->object_from_managed(out.release(), &object) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace

void bind_tensors(nb::module_& m) {
  m.def("use_exchange", &use_exchange, nb::arg("capsule"));
  m.def("multiply_tensors", &multiply_tensors, nb::arg("a"), nb::arg("b"), nb::arg("alpha"),
        nb::arg("trans_a"), nb::arg("trans_b"), nb::arg("kernel"));
}

}  // namespace tessera::python
