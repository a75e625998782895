#include "core/thread_scratch.h"

#include <cstdint>

namespace tessera {
namespace {

/// Memory that grows to the largest call.
class Growing {
 public:
  ~Growing();
  void* at_least(std::size_t bytes) {
    if (bytes > size_) {
      // The old one goes first: the two need not fit side by side.
      buffer_ = HostBuffer();
      size_ = 0;
      buffer_ = HostBuffer("gemm", static_cast<std::int64_t>(bytes), Pages::kLarge);
      size_ = bytes;
    }
    return buffer_.data();
  }

 private:
  HostBuffer buffer_;
  std::size_t size_ = 0;
};

// Destructors of other thread-local or static objects may multiply after the thread's scratch
// memory is gone. The flag, having no destructor, outlives it.
thread_local bool t_gone = false;

Growing::~Growing() { t_gone = true; }

}  // namespace

ThreadScratch::ThreadScratch(std::size_t bytes) {
  if (t_gone) {
    last_ = HostBuffer("gemm", static_cast<std::int64_t>(bytes), Pages::kLarge);
    data_ = last_.data();
    return;
  }
  thread_local Growing memory;
  data_ = memory.at_least(bytes);
}

}  // namespace tessera
