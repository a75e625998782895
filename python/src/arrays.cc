// gemm and matmul of arrays of any library: checks, copies where ld cannot say a layout, results.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>

#include "bindings.h"
#include "multiply.h"
#include "on_device.h"
#include "raise.h"
#include "tessera/error.h"

namespace tessera::python {
namespace {

/// What this module needs of numpy and of the package, looked up once and never released.
struct Imports {
  nb::object empty, float32, float64, packed;
};

const Imports& imports() {
  static const Imports& instance = [&]() -> const Imports& {
    const nb::module_ numpy = nb::module_::import_("numpy");
    return *new Imports{numpy.attr("empty"), numpy.attr("dtype")("float32"),
                        numpy.attr("dtype")("float64"),
                        nb::module_::import_("tessera._arrays").attr("packed")};
  }();
  return instance;
}

nb::object new_array(const std::vector<std::int64_t>& shape, DType dtype) {
  const Imports& numpy = imports();
  nb::object sizes = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!sizes) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    PyTuple_SetItem(sizes.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
  }
  return numpy.empty(sizes, dtype == DType::kF32 ? numpy.float32 : numpy.float64);
}

/// An input: the array itself, or a dense copy where ld cannot say its layout.
class Input {
 public:
  Input(const char* operation, const char* name, nb::handle object, std::uintptr_t stream)
      : operation_(operation),
        object_(object),
        stream_(stream),
        array_(std::in_place, operation, name, object, stream) {}
  const Strided& given() const { return *array_; }
  /// A vector as a matrix of one row (column).
  void add_dimension(bool as_row) {
    Strided& x = *array_;
    const int at = as_row ? 0 : 1;
    if (as_row) x.shape[1] = x.shape[0], x.strides[1] = x.strides[0];
    x.shape[at] = 1;
    x.strides[at] = 0;
    x.ndim = 2;
    added_ = true;
    as_row_ = as_row;
  }
  bool is_vector() const { return added_; }
  const Strided& readable() {
    if (matrix_of(*array_)) return *array_;
    const char* const name = array_->name;
    copy_ = imports().packed(object_);
    array_.reset();
    array_.emplace(operation_, name, copy_, stream_);
    if (added_) add_dimension(as_row_);
    return *array_;
  }

 private:
  const char* operation_;
  nb::handle object_;
  std::uintptr_t stream_;
  nb::object copy_;
  std::optional<Array> array_;
  bool added_ = false, as_row_ = false;
};

/// FP32 is the least that is promised: float64 arrays are computed in FP64 whatever it says.
Precision precision_of(const std::string& name, DType dtype) {
  const Precision precision = parse_precision(name);
  return precision == Precision::kFp32 && dtype == DType::kF64 ? Precision::kNative : precision;
}

/// Throws when gemm has no arithmetic of this name for the type.
void check_precision(const std::string& name, bool f64) {
  const DType dtype = f64 ? DType::kF64 : DType::kF32;
  const Precision precision = precision_of(name, dtype);
  const Precision own = f64 ? Precision::kFp64 : Precision::kFp32;
  if (precision == Precision::kNative || precision == own) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("gemm: precision {} on {} operands has no kernel in this version", name,
                          f64 ? "float64" : "float32"));
}

/// The device that host arrays are to be multiplied on; std::nullopt is where they are.
std::optional<int> elsewhere(const Strided& a, const std::string& device) {
  if (device.empty()) return std::nullopt;
  int index = 0;
  const bool cuda = device == "cuda" ||
                    (device.rfind("cuda:", 0) == 0 && device.size() > 5 && device.size() < 9 &&
                     device.find_first_not_of("0123456789", 5) == std::string::npos);
  if (device.size() > 5 && cuda) index = std::stoi(device.substr(5));
  if (!cuda && device != "cpu") {
    raise(PyExc_ValueError,
          fmt::format("gemm: device {}: must be \"cpu\", \"cuda\" or \"cuda:N\"", device));
  }
  if (a.space == Space::kCuda) {
    if (!cuda || (device.size() > 5 && index != a.device)) {
      raise(PyExc_ValueError, fmt::format("gemm: device {}, but a is in memory of cuda:{}: arrays "
                                          "in CUDA memory are multiplied where they are",
                                          device, a.device));
    }
    return std::nullopt;
  }
  return cuda ? std::optional<int>(index) : std::nullopt;
}

bool same_memory(const Strided& x, const Strided& y) {
  return x.data == y.data && x.shape == y.shape && x.strides == y.strides;
}

void check_addend(const Array& c, const Strided& out) {
  if (c.dtype != out.dtype) {
    raise(PyExc_TypeError, "gemm: c must have the dtype of a and b");
  }
  if (c.ndim != 2 || c.shape != out.shape) {
    raise(PyExc_ValueError, fmt::format("gemm: c is {}: it must be {} like the product",
                                        c.shape_text(), out.shape_text()));
  }
}

nb::object gemm(nb::handle a_object, nb::handle b_object, double alpha, double beta,
                nb::handle c_object, bool trans_a, bool trans_b, nb::object out_object,
                const std::string& precision, const std::string& device, const std::string& kernel,
                std::uintptr_t stream) {
  Input a("gemm", "a", a_object, stream), b("gemm", "b", b_object, stream);
  for (const Input* x : {&a, &b}) {
    if (x->given().ndim > 2) {
      raise(PyExc_ValueError,
            fmt::format("gemm: {} has shape {}: a matrix, with 2 dimensions, is needed; matmul "
                        "takes batches",
                        x->given().name, x->given().shape_text()));
    }
  }
  Request request{"gemm", trans_a, trans_b, alpha, beta, {}};
  request.options.kernel = kernel;
  request.options.stream = reinterpret_cast<void*>(stream);
  request.options.precision = precision_of(precision, a.given().dtype);
  check_pair(request, a.given(), b.given());
  const std::optional<int> remote = elsewhere(a.given(), device);

  const bool into_given = !out_object.is_none();
  if (!into_given) {
    out_object = new_array(product_shape(request, a.given(), b.given()), a.given().dtype);
  }
  const Array out("gemm", "out", out_object, stream);
  check_out(request, a.given(), b.given(), out);
  std::optional<Array> c;
  if (!c_object.is_none()) {
    c.emplace("gemm", "c", c_object, stream);
    check_addend(*c, out);
  } else if (beta != 0 && !into_given) {
    raise(PyExc_ValueError,
          fmt::format("gemm: beta is {}, but neither c nor out is given to be scaled by it", beta));
  }
  if (c && beta != 0 && !same_memory(*c, out)) {
    if (range_of(*c).meets(range_of(out))) {
      raise(PyExc_ValueError,
            "gemm: out shares memory with c: it must be the same array or a separate one");
    }
    multiply(request, a.readable(), b.readable(), out, {}, /*only_check=*/true);
    if (PyObject_SetItem(out_object.ptr(), Py_Ellipsis, c_object.ptr()) != 0) {
      throw nb::python_error();
    }
  }
  if (remote) {
    multiply_on_device(request, a.readable(), b.readable(), out, *remote);
  } else {
    multiply(request, a.readable(), b.readable(), out);
  }
  return out_object;
}

/// numpy.matmul's: a vector on the left is a row, on the right a column, and that dimension is
/// dropped from the result. Gives the two as matrices or batches, and the result's shape.
std::vector<std::int64_t> matmul_shape(const Request& request, Input& a, Input& b) {
  for (const Input* x : {&a, &b}) {
    if (x->given().ndim == 0) {
      raise(PyExc_ValueError,
            fmt::format("matmul: {} is a scalar: at least 1 dimension is needed", x->given().name));
    }
  }
  const bool vector_a = a.given().ndim == 1, vector_b = b.given().ndim == 1;
  if (vector_a) a.add_dimension(/*as_row=*/true);
  if (vector_b) b.add_dimension(/*as_row=*/false);
  std::vector<std::int64_t> shape = product_shape(request, a.given(), b.given());
  if (vector_b) shape.pop_back();
  if (vector_a) shape.erase(shape.end() - (vector_b ? 1 : 2));
  return shape;
}

/// The result with the dimension of size 1 that each vector lacks.
Strided with_dropped(const Strided& given, bool row_dropped, bool col_dropped) {
  Strided out = given;
  const auto insert = [&](int at) {
    if (at < 0 || out.ndim == kMostDims) return;
    std::copy_backward(out.shape.begin() + at, out.shape.begin() + out.ndim,
                       out.shape.begin() + out.ndim + 1);
    std::copy_backward(out.strides.begin() + at, out.strides.begin() + out.ndim,
                       out.strides.begin() + out.ndim + 1);
    out.shape[at] = 1;
    out.strides[at] = 0;
    ++out.ndim;
  };
  if (col_dropped) insert(out.ndim);
  if (row_dropped) insert(out.ndim - 1);
  return out;
}

nb::tuple shape_of_product(const std::string& operation, nb::handle a_object, nb::handle b_object,
                           bool trans_a, bool trans_b) {
  const bool is_gemm = operation == "gemm";
  const Request request{is_gemm ? "gemm" : "matmul", trans_a, trans_b, 1, 0, {}};
  Input a(request.operation, "a", a_object, 0), b(request.operation, "b", b_object, 0);
  nb::list sizes;
  for (const std::int64_t n :
       is_gemm ? product_shape(request, a.given(), b.given()) : matmul_shape(request, a, b)) {
    sizes.append(n);
  }
  return nb::tuple(sizes);
}

nb::object matmul(nb::handle a_object, nb::handle b_object, nb::object out_object,
                  std::uintptr_t stream) {
  Request request{"matmul", false, false, 1, 0, {}};
  request.options.stream = reinterpret_cast<void*>(stream);
  Input a("matmul", "a", a_object, stream), b("matmul", "b", b_object, stream);
  const std::vector<std::int64_t> shape = matmul_shape(request, a, b);
  if (out_object.is_none()) out_object = new_array(shape, a.given().dtype);
  const Array given("matmul", "out", out_object, stream);
  const Strided out = with_dropped(given, a.is_vector(), b.is_vector());
  check_out(request, a.given(), b.given(), out);
  multiply(request, a.readable(), b.readable(), out);
  return out_object;
}

}  // namespace

void bind_arrays(nb::module_& m) {
  m.def("gemm", &gemm, nb::arg("a").none(), nb::arg("b").none(), nb::arg("alpha"), nb::arg("beta"),
        nb::arg("c").none(), nb::arg("trans_a"), nb::arg("trans_b"), nb::arg("out").none(),
        nb::arg("precision"), nb::arg("device"), nb::arg("kernel"), nb::arg("stream") = 0);
  m.def("matmul", &matmul, nb::arg("a").none(), nb::arg("b").none(), nb::arg("out").none(),
        nb::arg("stream") = 0);
  m.def("check_precision", &check_precision, nb::arg("name"), nb::arg("f64"));
  m.def("product_shape", &shape_of_product, nb::arg("operation"), nb::arg("a").none(),
        nb::arg("b").none(), nb::arg("trans_a") = false, nb::arg("trans_b") = false);
}

}  // namespace tessera::python
