#include "raise.h"

#include "tessera/error.h"

namespace tessera::python {
namespace {

PyObject* type_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadFile:
      return PyExc_ValueError;
    case ErrorCode::kUnsupported:
      return PyExc_NotImplementedError;
    case ErrorCode::kOutOfMemory:
      return PyExc_MemoryError;
    case ErrorCode::kOutputFailure:
      return PyExc_OSError;
    case ErrorCode::kCancelled:
      return PyExc_KeyboardInterrupt;
    case ErrorCode::kNoDevice:
    case ErrorCode::kDeviceFailure:
      break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nanobind::python_error();
}

void translate_errors() {
  nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      PyErr_SetString(type_of(e.code()), e.what());
    }
  });
}

void check_signals() {
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace tessera::python
