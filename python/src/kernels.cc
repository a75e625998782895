// The registry, as a list of dictionaries.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "tessera/kernel.h"

namespace tessera::python {
namespace {

/// NumPy's name of what a kernel takes.
const char* numpy_name(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "float64";
    case DType::kF16:
      return "float16";
    case DType::kBF16:
      return "bfloat16";
    default:
      return "float32";
  }
}

nb::list kernels() {
  nb::list out;
  for (const Kernel& kernel : registry().kernels()) {
    nb::dict entry;
    entry["id"] = kernel.name;
    entry["backend"] = kernel.id.backend;
    entry["family"] = kernel.id.family;
    entry["dtype"] = numpy_name(kernel.id.dtype);
    entry["stem"] = kernel.stem;
    entry["summary"] = kernel.summary;
    entry["why"] = kernel.why;
    entry["arch"] = kernel.arch;
    entry["limits"] = kernel.limits;
    entry["tile"] = nb::make_tuple(kernel.tile_m, kernel.tile_n, kernel.tile_k);
    entry["alignment_bytes"] = kernel.alignment_bytes;
    out.append(entry);
  }
  return out;
}

}  // namespace

void bind_kernels(nb::module_& m) {
  m.def("kernels", &kernels);
  m.def("cuda_unavailable_reason", &cuda_unavailable_reason);
}

}  // namespace tessera::python
