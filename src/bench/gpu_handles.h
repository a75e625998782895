// Memory, streams and events of the current CUDA device, given back at the end of their scope.
#pragma once

#include <cstdint>
#include <memory>

#include "core/backend.h"

namespace tessera::bench::gpu {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t bytes) : p_(cuda::allocate(static_cast<std::size_t>(bytes))) {}
  template <class T>
  T* as() const {
    return static_cast<T*>(p_.get());
  }

 private:
  struct Release {
    void operator()(void* p) const noexcept { cuda::release(p); }
  };
  std::unique_ptr<void, Release> p_;
};

class Stream {
 public:
  void* get() const { return stream_.get(); }

 private:
  struct Destroy {
    void operator()(void* p) const noexcept { cuda::destroy_stream(p); }
  };
  std::unique_ptr<void, Destroy> stream_{cuda::create_stream()};
};

/// With timing.
class Event {
 public:
  void* get() const { return event_.get(); }

 private:
  struct Destroy {
    void operator()(void* p) const noexcept { cuda::destroy_event(p); }
  };
  std::unique_ptr<void, Destroy> event_{cuda::create_event()};
};

}  // namespace tessera::bench::gpu
