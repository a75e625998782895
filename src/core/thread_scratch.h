// Scratch memory of the calling thread, kept from call to call.
#pragma once

#include <cstddef>

#include "core/host_buffer.h"

namespace tessera {

/// At least `bytes` at a multiple of 256, the calling thread's until this object goes; one lives at
/// a time. The memory grows to the thread's largest call and stays until the thread ends. Throws
/// Error(kOutOfMemory).
class ThreadScratch {
 public:
  explicit ThreadScratch(std::size_t bytes);
  void* data() const { return data_; }

 private:
  HostBuffer last_;  // in a thread that is being taken down
  void* data_ = nullptr;
};

}  // namespace tessera
