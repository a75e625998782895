// .npy and .safetensors, through the readers and writers of src/io.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "array.h"
#include "bindings.h"
#include "io/tensor.h"
#include "layout.h"
#include "raise.h"
#include "tessera/error.h"

namespace tessera::python {
namespace {

/// Lends the bytes of a mapped file to NumPy through the buffer protocol.
struct MappedTensor {
  io::FileMatrix matrix;
};

int lend(PyObject* self, Py_buffer* view, int flags) {
  const auto& tensor = *nb::inst_ptr<MappedTensor>(self);
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(tensor.matrix.data),
                           static_cast<Py_ssize_t>(tensor.matrix.bytes()), /*readonly=*/1, flags);
}

PyType_Slot mapped_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&lend)}, {0, nullptr}};

template <class T>
void widen_into(const io::FileMatrix& m, Array& out) {
  io::read_block<T>(m, 0, 0, m.rows, m.cols, reinterpret_cast<T*>(out.data),
                    std::max<std::int64_t>(m.cols, 1));
}

/// Elements as float32 or float64 into a dense row-major array.
void read_into(const MappedTensor& tensor, nb::handle object) {
  Array out("load", "out", object);
  const nb::gil_scoped_release no_gil;
  if (out.dtype == DType::kF32) {
    widen_into<float>(tensor.matrix, out);
  } else {
    widen_into<double>(tensor.matrix, out);
  }
}

template <class T>
void write_rows(io::OutputMatrix& file, const Matrix& x) {
  // A column-major matrix is turned row by row; a row-major one is written as it lies.
  if (x.layout == Layout::kRowMajor) {
    return file.write_block<T>(0, 0, x.rows, x.cols, reinterpret_cast<const T*>(x.data), x.ld);
  }
  std::vector<T> row(static_cast<std::size_t>(x.cols));
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.cols; ++j) {
      row[static_cast<std::size_t>(j)] = reinterpret_cast<const T*>(x.data)[i + j * x.ld];
    }
    file.write_block<T>(i, 0, 1, x.cols, row.data(), x.cols);
  }
}

/// A matrix that an ld can say, or elements of any shape that lie densely in C order.
std::optional<Matrix> storable(const Strided& x) {
  if (x.ndim == 2) return matrix_of(x);
  Strided flat = x;
  flat.ndim = 2;
  flat.shape = {1, 1};
  for (int i = 0; i < x.ndim; ++i) flat.shape[i + 1 < x.ndim ? 0 : 1] *= x.shape[i];
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  flat.strides = {flat.shape[1] * size, size};
  std::int64_t dense = size;
  for (int i = x.ndim - 1; i >= 0 && !x.empty(); --i) {
    if (x.shape[i] > 1 && x.strides[i] != dense) return std::nullopt;
    dense *= x.shape[i];
  }
  return matrix_of(flat);
}

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

/// `object` is storable.
void save(const nb::bytes& path, nb::handle object, const std::string& dtype,
          const std::string& tensor) {
  const Array x("save", "array", object);
  if (x.space != Space::kHost) raise(PyExc_ValueError, "save: array must be in host memory");
  const std::optional<Matrix> matrix = storable(x);
  if (!matrix) raise(PyExc_ValueError, "save: array must be dense");
  const DType stored = dtype.empty() ? x.dtype : parse_dtype(dtype);
  const std::string name = path_of(path);
  const nb::gil_scoped_release no_gil;
  io::OutputMatrix file(name, stored, matrix->rows, matrix->cols, tensor,
                        std::vector(x.shape.begin(), x.shape.begin() + x.ndim));
  if (x.dtype == DType::kF32) {
    write_rows<float>(file, *matrix);
  } else {
    write_rows<double>(file, *matrix);
  }
  file.commit();
}

}  // namespace

void bind_files(nb::module_& m) {
  nb::class_<MappedTensor>(m, "MappedTensor", nb::type_slots(mapped_slots))
      .def_prop_ro("dtype",
                   [](const MappedTensor& t) { return std::string(to_string(t.matrix.dtype)); })
      .def_prop_ro("big_endian", [](const MappedTensor& t) { return t.matrix.big_endian; })
      .def_prop_ro("column_major",
                   [](const MappedTensor& t) { return t.matrix.layout == Layout::kColMajor; })
      .def_prop_ro("shape", [](const MappedTensor& t) {
        nb::list sizes;
        for (const std::int64_t n : t.matrix.shape) sizes.append(n);
        return nb::tuple(sizes);
      });
  m.def(
      "open_tensor",
      [](const nb::bytes& spec) {
        return MappedTensor{io::open_matrix(path_of(spec), io::Rank::kAny)};
      },
      nb::arg("spec"));
  m.def(
      "is_storable",
      [](nb::handle object) { return storable(Array("save", "array", object)).has_value(); },
      nb::arg("array").none());
  m.def("read_into", &read_into, nb::arg("tensor"), nb::arg("out"));
  m.def("save", &save, nb::arg("path"), nb::arg("array").none(), nb::arg("dtype"),
        nb::arg("tensor"));
}

}  // namespace tessera::python
