#include "on_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/backend.h"
#include "raise.h"
#include "tessera/error.h"
#include "tessera/kernel.h"

namespace tessera::python {
namespace {

/// A dense copy of a host matrix in the memory of the current device.
class DeviceMatrix {
 public:
  DeviceMatrix(const Matrix& host, DType dtype) : host_(host) {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const bool by_rows = host.layout == Layout::kRowMajor;
    runs_ = by_rows ? host.rows : host.cols;
    width_ = (by_rows ? host.cols : host.rows) * size;
    pitch_ = host.ld * size;
    matrix_ = host;
    matrix_.ld = std::max<std::int64_t>(by_rows ? host.cols : host.rows, 1);
    if (runs_ > 0 && width_ > 0) {
      matrix_.data = static_cast<char*>(cuda::allocate(static_cast<std::size_t>(runs_ * width_)));
    }
  }
  ~DeviceMatrix() {
    if (runs_ > 0 && width_ > 0) cuda::release(matrix_.data);
  }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  const Matrix& matrix() const { return matrix_; }
  void fill() const {
    cuda::copy_to_device(matrix_.data, bytes(width_), host_.data, bytes(pitch_), bytes(width_),
                         bytes(runs_), nullptr);
  }
  void fetch() const {
    cuda::copy_to_host(host_.data, bytes(pitch_), matrix_.data, bytes(width_), bytes(width_),
                       bytes(runs_), nullptr);
  }

 private:
  static std::size_t bytes(std::int64_t n) { return static_cast<std::size_t>(n); }

  Matrix host_, matrix_;
  std::int64_t runs_, width_, pitch_;
};

}  // namespace

void multiply_on_device(const Request& r, const Strided& a, const Strided& b, const Strided& out,
                        int device) {
  const auto count = static_cast<int>(cuda_devices().size());
  if (device >= count) {
    const std::string reason = cuda_unavailable_reason();
    throw Error(ErrorCode::kNoDevice,
                fmt::format("gemm: device cuda:{} cannot be used: {}", device,
                            reason.empty() ? fmt::format("there are {}", count) : reason));
  }
  multiply(r, a, b, out, {}, /*only_check=*/true);  // aliases, which the copies would hide
  if (out.empty()) return;
  Product p;
  p.dtype = out.dtype;
  p.space = Space::kCuda;
  p.device = device;
  p.trans_a = r.trans_a;
  p.trans_b = r.trans_b;
  p.alpha = r.alpha;
  p.beta = r.beta;
  p.options = r.options;
  const cuda::DeviceGuard guard(device);
  const DeviceMatrix device_a(matrix_or_raise(r.operation, a), p.dtype);
  const DeviceMatrix device_b(matrix_or_raise(r.operation, b), p.dtype);
  const DeviceMatrix device_c(matrix_or_raise(r.operation, out), p.dtype);
  p.a = device_a.matrix();
  p.b = device_b.matrix();
  p.c = device_c.matrix();
  {
    const nb::gil_scoped_release no_gil;
    device_a.fill();
    device_b.fill();
    if (p.beta != 0) device_c.fill();
  }
  run(p);
  const nb::gil_scoped_release no_gil;
  device_c.fetch();
  cuda::synchronise(nullptr);
}

}  // namespace tessera::python
