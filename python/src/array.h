// Any array of Python's: through the buffer protocol, or through DLPack.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/matrix.h"
#include "tessera/precision.h"

namespace tessera::python {

namespace nb = nanobind;

inline constexpr int kMostDims = 32;

/// What is known of an array: where it lies and how it is laid out. It owns nothing.
struct Strided {
  const char* name = "";  ///< of the argument, for messages
  char* data = nullptr;
  DType dtype = DType::kF32;
  Space space = Space::kHost;
  int device = -1;  ///< CUDA device index
  bool readonly = false;
  int ndim = 0;
  std::array<std::int64_t, kMostDims> shape{};
  std::array<std::int64_t, kMostDims> strides{};  ///< bytes; of any sign, 0 too

  bool empty() const;
  /// "(3, 4)"
  std::string shape_text() const;
  std::string strides_text() const;
};

/// Bytes from the first to one past the last that an array touches.
struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};
Range range_of(const Strided& array);

/// An array of Python's, held while this lives. To be made and destroyed with the GIL.
class Array : public Strided {
 public:
  /// Throws TypeError for what is no array, or holds neither float32 nor float64; `operation` and
  /// `name` begin its message.
  /// Work that the producer of CUDA memory has enqueued is waited for by `stream`.
  Array(const char* operation, const char* name, nb::handle object, std::uintptr_t stream = 0);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

 private:
  void import_buffer(const char* operation, nb::handle object);
  void import_dlpack(const char* operation, nb::handle object, std::uintptr_t stream);

  Py_buffer buffer_{};
  bool has_buffer_ = false;
  nb::object capsule_;
};

}  // namespace tessera::python
