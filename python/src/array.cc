#include "array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dlpack.h"
#include "raise.h"

namespace tessera::python {
namespace {

std::string tuple_text(const std::int64_t* values, int count) {
  const std::string text = fmt::format("{}", fmt::join(values, values + count, ", "));
  return count == 1 ? fmt::format("({},)", text) : fmt::format("({})", text);
}

std::string text_of(const nb::object& object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  const char* const utf8 = text ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
  if (utf8 == nullptr) throw nb::python_error();
  return utf8;
}

/// The name that the array's own library has for its element type.
std::string dtype_text(nb::handle object, const char* format) {
  if (nb::hasattr(object, "dtype")) return text_of(object.attr("dtype"));
  return fmt::format("format '{}'", format);
}

[[noreturn]] void refuse_dtype(const char* operation, const char* name, const std::string& dtype) {
  raise(PyExc_TypeError,
        fmt::format("{}: {} has dtype {}: it must be float32 or float64, in native byte order",
                    operation, name, dtype));
}

bool is_on_gpu(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return false;
  const int kind = nb::cast<int>(object.attr("__dlpack_device__")()[0]);
  return kind == kDlCuda || kind == kDlCudaManaged;
}

void refuse_dims(const char* operation, const char* name, int ndim) {
  if (ndim <= kMostDims) return;
  raise(PyExc_ValueError, fmt::format("{}: {} has {} dimensions: at most {} are supported",
                                      operation, name, ndim, kMostDims));
}

/// numpy.ma's: what its mask hides is in the buffer all the same.
void refuse_mask(const char* operation, const char* name, nb::handle object) {
  static const nb::handle ndarray =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  if (Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject*>(ndarray.ptr())) return;
  if (PyObject_IsInstance(object.ptr(), ndarray.ptr()) != 1) return PyErr_Clear();
  static const nb::handle masked =
      nb::object(nb::module_::import_("numpy.ma").attr("MaskedArray")).release();
  if (PyObject_IsInstance(object.ptr(), masked.ptr()) != 1) return PyErr_Clear();
  raise(PyExc_TypeError, fmt::format("{}: {} is a masked array: masks are not heeded here, give "
                                     "its filled()",
                                     operation, name));
}

}  // namespace

bool Strided::empty() const {
  return std::any_of(shape.begin(), shape.begin() + ndim, [](std::int64_t n) { return n == 0; });
}

std::string Strided::shape_text() const { return tuple_text(shape.data(), ndim); }
std::string Strided::strides_text() const { return tuple_text(strides.data(), ndim); }

Range range_of(const Strided& array) {
  if (array.empty()) return {};
  auto begin = reinterpret_cast<std::uintptr_t>(array.data);
  auto end = begin + size_of(array.dtype);
  for (int i = 0; i < array.ndim; ++i) {
    const std::int64_t span = (array.shape[i] - 1) * array.strides[i];
    (span < 0 ? begin : end) += static_cast<std::uintptr_t>(span);
  }
  return {begin, end};
}

Array::Array(const char* operation, const char* argument, nb::handle object,
             std::uintptr_t stream) {
  name = argument;
  refuse_mask(operation, argument, object);
  if (PyObject_CheckBuffer(object.ptr())) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) == 0) {
      import_buffer(operation, object);
      return;
    }
    nb::python_error no_buffer;  // takes the error, so that Python can be asked further
    if (!is_on_gpu(object)) {    // JAX's arrays there have DLPack
      // Types that the buffer protocol has no letter for, such as bfloat16.
      if (!nb::hasattr(object, "dtype")) throw no_buffer;
      refuse_dtype(operation, name, dtype_text(object, "?"));
    }
  }
  if (nb::hasattr(object, "__dlpack__")) {
    import_dlpack(operation, object, stream);
  } else {
    raise(PyExc_TypeError,
          fmt::format("{}: {} is of type {}: an array is needed (buffer protocol or DLPack)",
                      operation, argument, text_of(object.type().attr("__name__"))));
  }
}

Array::~Array() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
}

void Array::import_buffer(const char* operation, nb::handle object) {
  has_buffer_ = true;
  const char* format = buffer_.format == nullptr ? "B" : buffer_.format;
  const char* letter = format;
  if (*letter == '@' || *letter == '=' || *letter == '<') ++letter;
  if (std::strcmp(letter, "f") == 0) {
    dtype = DType::kF32;
  } else if (std::strcmp(letter, "d") == 0) {
    dtype = DType::kF64;
  } else {
    refuse_dtype(operation, name, dtype_text(object, format));
  }
  refuse_dims(operation, name, buffer_.ndim);
  data = static_cast<char*>(buffer_.buf);
  readonly = buffer_.readonly != 0;
  ndim = buffer_.ndim;
  std::copy_n(buffer_.shape, ndim, shape.begin());
  std::copy_n(buffer_.strides, ndim, strides.begin());
}

void Array::import_dlpack(const char* operation, nb::handle object, std::uintptr_t stream) {
  const nb::object where = object.attr("__dlpack_device__")();
  const int kind = nb::cast<int>(where[0]);
  const bool cuda = kind == kDlCuda || kind == kDlCudaManaged;
  if (!cuda && kind != kDlCpu && kind != kDlCudaHost) {
    raise(PyExc_ValueError,
          fmt::format("{}: {} is on DLPack device type {}: it must be in host or CUDA memory",
                      operation, name, kind));
  }
  // DLPack's number of the default stream is 1, not its null handle.
  capsule_ = cuda ? object.attr("__dlpack__")(nb::arg("stream") = stream == 0 ? 1 : stream)
                  : object.attr("__dlpack__")();
  const auto* tensor =
      static_cast<const DlTensor*>(PyCapsule_GetPointer(capsule_.ptr(), "dltensor"));
  if (tensor == nullptr) throw nb::python_error();
  // The capsule is not renamed: as long as it is not, it frees the tensor when it goes.
  if (tensor->dtype.code != kDlFloat || tensor->dtype.lanes != 1 ||
      (tensor->dtype.bits != 32 && tensor->dtype.bits != 64)) {
    refuse_dtype(operation, name, dtype_text(object, "of DLPack"));
  }
  refuse_dims(operation, name, tensor->ndim);
  dtype = tensor->dtype.bits == 32 ? DType::kF32 : DType::kF64;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  space = cuda ? Space::kCuda : Space::kHost;
  device = cuda ? tensor->device.id : -1;
  data = static_cast<char*>(tensor->data) + tensor->byte_offset;
  ndim = tensor->ndim;
  std::copy_n(tensor->shape, ndim, shape.begin());
  std::int64_t dense = size;
  for (int i = ndim - 1; i >= 0; --i) {
    strides[i] = tensor->strides != nullptr ? tensor->strides[i] * size : dense;
    dense *= std::max<std::int64_t>(shape[i], 1);
  }
}

}  // namespace tessera::python
