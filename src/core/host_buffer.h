// Scratch memory on the host.
#pragma once

#include <cstdint>
#include <memory>

namespace tessera {

/// Pages that memory is asked for in; large ones are had where the system gives them on advice.
/// A product that goes through its packed operands again and again looks up fewer of them.
enum class Pages { kPlain, kLarge };

/// Host memory at a multiple of 256 bytes, not initialised.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Throws Error(kOutOfMemory), whose message begins with `operation`. Without bytes: null.
  HostBuffer(const char* operation, std::int64_t bytes, Pages pages = Pages::kPlain);
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* p) const noexcept;
  };
  std::unique_ptr<void, Free> data_;
};

}  // namespace tessera
