// Python exceptions from C++.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace tessera::python {

/// Throws a Python exception of this type. Needs the GIL.
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// Lets tessera::Error arrive in Python as the exception that its code stands for.
void translate_errors();

/// Throws when a signal's handler raised, as that of Ctrl-C does. Takes the GIL.
void check_signals();

}  // namespace tessera::python
