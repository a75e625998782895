// Host arrays multiplied on a GPU: copied there, and the result back.
#pragma once

#include "multiply.h"

namespace tessera::python {

/// As multiply, for one product of arrays in host memory, on cuda:`device`. The copies are made on
/// the default stream; returns when `out` is complete.
void multiply_on_device(const Request& request, const Strided& a, const Strided& b,
                        const Strided& out, int device);

}  // namespace tessera::python
