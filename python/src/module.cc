// tessera._core: the library as Python sees it. The package's own functions stand before it.
#include "bindings.h"
#include "raise.h"
#include "tessera/tessera.h"

NB_MODULE(_core, m) {
  using namespace tessera::python;
  m.doc() = "The compiled part of tessera; its functions are called through the package.";
  translate_errors();
  bind_arrays(m);
  bind_pointers(m);
  bind_tensors(m);
  bind_verify(m);
  bind_files(m);
  bind_kernels(m);
  bind_device_array(m);
  bind_timing(m);
}
