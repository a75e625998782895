// What the tests on a GPU share: device arrays, exact data, the list of kernels.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/backend.h"
#include "tessera/gemm.h"

namespace tessera {

/// Fails the test on a CUDA error.
#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess) << #call
#define EXPECT_CUDA(call) EXPECT_EQ((call), cudaSuccess) << #call

/// Elements in memory of the current device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size)
      : size_(size), data_(static_cast<T*>(cuda::allocate(size * sizeof(T)))) {}
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) { upload(host); }
  ~DeviceArray() { cuda::release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void upload(const std::vector<T>& host) {
    EXPECT_CUDA(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> host(size_);
    EXPECT_CUDA(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  std::size_t size_;
  T* data_;
};

/// Small whole numbers, so that every sum is exact in both types; no two rows or columns alike.
template <class T>
std::vector<T> whole_numbers(std::size_t size, std::uint64_t seed) {
  std::vector<T> out(size);
  std::uint64_t state = seed * 2 + 1;
  for (T& x : out) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = static_cast<T>(static_cast<int>(state >> 61) - 3);
  }
  return out;
}

/// The CUDA kernels of one type that take operands aligned to this many bytes.
inline std::vector<std::string> cuda_kernel_names(DType dtype, int alignment_bytes = 1) {
  std::vector<std::string> out;
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != "cuda" || kernel.id.dtype != dtype) continue;
    const int least = static_cast<int>(size_of(dtype));  // any pointer to an element has it
    if (kernel.alignment_bytes <= std::max(least, alignment_bytes)) out.push_back(kernel.name);
  }
  return out;
}

inline GemmOptions with_kernel(const std::string& name, void* stream = nullptr) {
  GemmOptions options;
  options.kernel = name;
  options.stream = stream;
  return options;
}

/// Runs `call` and returns the message of the Error it must throw with this code.
template <class Call>
std::string error_of(ErrorCode code, Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace tessera
