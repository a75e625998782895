// Streams, events and memory of a PanelDevice that free themselves.
#pragma once

#include <cstddef>
#include <utility>

#include "panel/device_walk.h"

namespace tessera::panel {

/// A handle that goes back to its device by `Free`.
template <void (PanelDevice::*Free)(void*) noexcept>
class DeviceHandle {
 public:
  DeviceHandle() = default;
  DeviceHandle(PanelDevice& device, void* handle) : device_(&device), handle_(handle) {}
  DeviceHandle(DeviceHandle&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  DeviceHandle& operator=(DeviceHandle&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~DeviceHandle() {
    if (handle_ != nullptr) (device_->*Free)(handle_);
  }
  void* get() const { return handle_; }

 private:
  PanelDevice* device_ = nullptr;
  void* handle_ = nullptr;
};

using DeviceMemory = DeviceHandle<&PanelDevice::release>;
using PinnedMemory = DeviceHandle<&PanelDevice::release_pinned>;
using DeviceStream = DeviceHandle<&PanelDevice::destroy_stream>;
using DeviceEvent = DeviceHandle<&PanelDevice::destroy_event>;

inline DeviceMemory device_memory(PanelDevice& d, std::int64_t bytes) {
  return {d, bytes > 0 ? d.allocate(static_cast<std::size_t>(bytes)) : nullptr};
}
inline PinnedMemory pinned_memory(PanelDevice& d, std::int64_t bytes) {
  return {d, d.allocate_pinned(static_cast<std::size_t>(bytes))};
}
inline DeviceStream device_stream(PanelDevice& d) { return {d, d.create_stream()}; }
inline DeviceEvent device_event(PanelDevice& d) { return {d, d.create_event()}; }

/// Waits for a stream before the memory its work uses is freed, also when unwinding.
class StreamDrain {
 public:
  StreamDrain(PanelDevice& device, void* stream) : device_(device), stream_(stream) {}
  ~StreamDrain() {
    try {
      device_.synchronise(stream_);
    } catch (...) {  // a failed device was reported where it failed
    }
  }
  StreamDrain(const StreamDrain&) = delete;
  StreamDrain& operator=(const StreamDrain&) = delete;

 private:
  PanelDevice& device_;
  void* stream_;
};

}  // namespace tessera::panel
