// The seam to CUDA. Implemented by src/cuda/backend.cu, or by src/core/no_cuda.cc in a build
// without.
#pragma once

#include <string>
#include <vector>

#include "tessera/kernel.h"

namespace tessera::cuda {

/// Usable devices; empty without one.
const std::vector<DeviceInfo>& devices();
/// Why devices() is empty, in one line; empty text when it is not.
std::string unavailable_reason();
/// The calling thread's current device.
int current_device();
/// The device whose memory p points into; throws Error(kInvalidArgument) naming `argument` when it
/// is not device memory.
int device_of(const void* p, const char* argument);

/// Makes `device` current for a scope, then restores the caller's.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  [[maybe_unused]] int previous_ = -1;  // -1: nothing to restore; no_cuda.cc has no use for it
};

/// C = beta * C for the m x n x batch elements of a canonical problem, enqueued on `stream`.
void scale(const Problem& problem, double beta, void* c, void* stream);

/// Memory of the current device; throws Error(kOutOfMemory) saying how much was asked and is free.
void* allocate(std::size_t bytes);
void release(void* p) noexcept;
/// Memory of the current device that is there for the work enqueued on `stream` between the two
/// calls. Comes from a pool of the library's own, which keeps what it was given; in a stream that
/// is being captured both calls become nodes of the graph, and the memory is the graph's.
void* allocate_on(void* stream, std::size_t bytes);
void release_on(void* stream, void* p) noexcept;
/// Page-locked host memory.
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* p) noexcept;
/// Bytes free on the current device.
std::size_t free_bytes();

// Streams and events of the current device, as opaque handles.
void* create_stream();
void destroy_stream(void* stream) noexcept;
void synchronise(void* stream);
void* create_event();  ///< with timing
void destroy_event(void* event) noexcept;
void record(void* event, void* stream);
void wait(void* stream, void* event);       ///< work enqueued on stream from now on waits for event
void synchronise_event(void* event);        ///< the calling thread waits for event
float elapsed_ms(void* start, void* stop);  ///< both recorded and complete

/// Copies `rows` runs of `width` bytes between pitched memories; host memory should be page-locked
/// for the copy to overlap with work.
void copy_to_device(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                    std::size_t width, std::size_t rows, void* stream);
void copy_to_host(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                  std::size_t width, std::size_t rows, void* stream);

}  // namespace tessera::cuda
