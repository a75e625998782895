// The walk of panels on a device with its own memory, written against a small interface, so that
// it also runs on a simulated device (tests/panel_walk_test.cc).
#pragma once

#include <cstddef>
#include <cstdint>

#include "panel/panel_job.h"

namespace tessera::panel {

/// What the walk needs of a device. Streams and events behave as in CUDA: work on one stream runs
/// in order; wait holds back what is enqueued later until the record that came before it is
/// reached; nothing else orders two streams or the host.
class PanelDevice {
 public:
  virtual ~PanelDevice() = default;
  virtual Space space() const = 0;
  virtual std::int64_t free_bytes() = 0;
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* p) noexcept = 0;
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void release_pinned(void* p) noexcept = 0;
  virtual void* create_stream() = 0;
  virtual void destroy_stream(void* stream) noexcept = 0;
  virtual void synchronise(void* stream) = 0;
  virtual void* create_event() = 0;
  virtual void destroy_event(void* event) noexcept = 0;
  virtual void record(void* event, void* stream) = 0;
  virtual void wait(void* stream, void* event) = 0;
  virtual void synchronise_event(void* event) = 0;
  virtual float elapsed_ms(void* start, void* stop) = 0;
  virtual void copy_to_device(void* dst, std::size_t dst_pitch, const void* src,
                              std::size_t src_pitch, std::size_t width, std::size_t rows,
                              void* stream) = 0;
  virtual void copy_to_host(void* dst, std::size_t dst_pitch, const void* src,
                            std::size_t src_pitch, std::size_t width, std::size_t rows,
                            void* stream) = 0;
  /// Enqueues a product of device memory.
  virtual void product(const Plan& plan, double alpha, const void* a, const void* b, double beta,
                       void* c, void* workspace, std::size_t workspace_bytes, void* stream) = 0;
};

/// Runs a job with m, n, k >= 1 and alpha != 0.
PanelReport walk_device(const PanelJob& job, PanelDevice& device);

}  // namespace tessera::panel
