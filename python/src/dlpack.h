// The part of DLPack's C structures (version 0.8 of its specification) that is read here.
#pragma once

#include <cstdint>

namespace tessera::python {

inline constexpr std::int32_t kDlCpu = 1, kDlCuda = 2, kDlCudaHost = 3, kDlCudaManaged = 13;
inline constexpr std::uint8_t kDlUnsigned = 1, kDlFloat = 2;

struct DlDevice {
  std::int32_t type, id;
};

struct DlDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

/// Begins DLManagedTensor, to which a capsule named "dltensor" points.
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t ndim;
  DlDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null for a dense row-major tensor
  std::uint64_t byte_offset;
};

}  // namespace tessera::python
