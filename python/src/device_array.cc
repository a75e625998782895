// Memory of a GPU as an object with DLPack, for libraries that take results but lend no memory.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bindings.h"
#include "core/backend.h"

namespace tessera::python {
namespace {

struct Block {
  int device;
  void* data;
  ~Block() {
    const cuda::DeviceGuard guard(device);
    cuda::release(data);
  }
};

nb::object new_device_array(nb::tuple shape, bool f64, int device) {
  std::vector<std::size_t> sizes;
  std::size_t count = 1;
  for (nb::handle n : shape) {
    sizes.push_back(nb::cast<std::size_t>(n));
    count *= sizes.back();
  }
  const cuda::DeviceGuard guard(device);
  auto block = std::make_unique<Block>(Block{device, nullptr});
  block->data = cuda::allocate(std::max<std::size_t>(count, 1) * (f64 ? 8 : 4));
  void* const data = block->data;
  const nb::capsule owner(block.release(), [](void* p) noexcept { delete static_cast<Block*>(p); });
  return nb::cast(nb::ndarray<>(data, sizes.size(), sizes.data(), owner, nullptr,
                                f64 ? nb::dtype<double>() : nb::dtype<float>(),
                                nb::device::cuda::value, device));
}

/// Waits for what was enqueued on the device's default stream.
void synchronise(int device) {
  const nb::gil_scoped_release no_gil;
  const cuda::DeviceGuard guard(device);
  cuda::synchronise(nullptr);
}

}  // namespace

void bind_device_array(nb::module_& m) {
  m.def("new_device_array", &new_device_array, nb::arg("shape"), nb::arg("f64"), nb::arg("device"));
  m.def("synchronise", &synchronise, nb::arg("device"));
}

}  // namespace tessera::python
