// Runs a product where a kernel lives: on host buffers in place, or through copies on a GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "core/backend.h"
#include "support/matrix.h"

namespace tessera::test {

/// A whole guarded buffer copied to the current CUDA device; copied back by download().
template <class T>
class DeviceCopy {
 public:
  explicit DeviceCopy(TestMatrix<T>& host) : host_(host), data_(cuda::allocate(bytes())) {
    cuda::copy_to_device(data_, bytes(), host.buffer().data(), bytes(), bytes(), 1, nullptr);
    cuda::synchronise(nullptr);
  }
  ~DeviceCopy() { cuda::release(data_); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  MatrixView<T> view() const {
    return {static_cast<T*>(data_) + host_.offset(),
            host_.rows(),
            host_.cols(),
            host_.ld(),
            host_.layout(),
            Space::kCuda};
  }
  void download() {
    cuda::copy_to_host(host_.buffer().data(), bytes(), data_, bytes(), bytes(), 1, nullptr);
    cuda::synchronise(nullptr);
  }

 private:
  std::size_t bytes() const { return host_.buffer().size() * sizeof(T); }
  TestMatrix<T>& host_;
  void* data_;
};

}  // namespace tessera::test
