// The parts of the module, one file each.
#pragma once

#include <nanobind/nanobind.h>

namespace tessera::python {

namespace nb = nanobind;

void bind_arrays(nb::module_& m);    ///< gemm, matmul
void bind_pointers(nb::module_& m);  ///< products of what PyTorch owns
void bind_tensors(nb::module_& m);   ///< the same, without Python objects on the way
void bind_verify(nb::module_& m);
void bind_files(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_device_array(nb::module_& m);
void bind_timing(nb::module_& m);

}  // namespace tessera::python
