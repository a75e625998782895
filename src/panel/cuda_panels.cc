// The walk of panels on a CUDA device.
#include <fmt/format.h>

#include "core/backend.h"
#include "panel/device_walk.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

/// The current CUDA device.
class CudaPanelDevice final : public PanelDevice {
 public:
  Space space() const override { return Space::kCuda; }
  std::int64_t free_bytes() override { return static_cast<std::int64_t>(cuda::free_bytes()); }
  void* allocate(std::size_t bytes) override { return cuda::allocate(bytes); }
  void release(void* p) noexcept override { cuda::release(p); }
  void* allocate_pinned(std::size_t bytes) override { return cuda::allocate_pinned(bytes); }
  void release_pinned(void* p) noexcept override { cuda::release_pinned(p); }
  void* create_stream() override { return cuda::create_stream(); }
  void destroy_stream(void* stream) noexcept override { cuda::destroy_stream(stream); }
  void synchronise(void* stream) override { cuda::synchronise(stream); }
  void* create_event() override { return cuda::create_event(); }
  void destroy_event(void* event) noexcept override { cuda::destroy_event(event); }
  void record(void* event, void* stream) override { cuda::record(event, stream); }
  void wait(void* stream, void* event) override { cuda::wait(stream, event); }
  void synchronise_event(void* event) override { cuda::synchronise_event(event); }
  float elapsed_ms(void* start, void* stop) override { return cuda::elapsed_ms(start, stop); }
  void copy_to_device(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                      std::size_t width, std::size_t rows, void* stream) override {
    cuda::copy_to_device(dst, dst_pitch, src, src_pitch, width, rows, stream);
  }
  void copy_to_host(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                    std::size_t width, std::size_t rows, void* stream) override {
    cuda::copy_to_host(dst, dst_pitch, src, src_pitch, width, rows, stream);
  }
  void product(const Plan& plan, double alpha, const void* a, const void* b, double beta, void* c,
               void* workspace, std::size_t workspace_bytes, void* stream) override {
    plan.run(alpha, a, b, beta, c, workspace, workspace_bytes, stream);
  }
};

}  // namespace

PanelReport run_cuda(const PanelJob& job) {
  const auto count = static_cast<int>(cuda_devices().size());
  const int index = job.options->device;
  if (count == 0) {
    throw Error(ErrorCode::kNoDevice,
                fmt::format("panel_gemm: cuda:{}: {}", index, cuda_unavailable_reason()));
  }
  if (index < 0 || index >= count) {
    throw Error(ErrorCode::kNoDevice,
                fmt::format("panel_gemm: device cuda:{} does not exist; there {} {}", index,
                            count == 1 ? "is" : "are", count));
  }
  const cuda::DeviceGuard guard(index);
  CudaPanelDevice device;
  return walk_device(job, device);
}

}  // namespace tessera::panel
