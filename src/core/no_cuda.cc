// The CUDA seam of a build without CUDA: no devices, and a clear word from everything else.
#include "core/backend.h"
#include "tessera/error.h"

namespace tessera::cuda {
namespace {

constexpr const char* kReason = "this build has no CUDA kernels (configure with TESSERA_CUDA=ON)";

[[noreturn]] void refuse() { throw Error(ErrorCode::kNoDevice, std::string("cuda: ") + kReason); }

}  // namespace

const std::vector<DeviceInfo>& devices() {
  // Never destroyed: see registry().
  static const auto& none = *new std::vector<DeviceInfo>;
  return none;
}
std::string unavailable_reason() { return kReason; }
int current_device() { refuse(); }
int device_of(const void*, const char*) { refuse(); }
DeviceGuard::DeviceGuard(int) { refuse(); }
DeviceGuard::~DeviceGuard() = default;
void scale(const Problem&, double, void*, void*) { refuse(); }
void* allocate(std::size_t) { refuse(); }
void release(void*) noexcept {}
void* allocate_on(void*, std::size_t) { refuse(); }
void release_on(void*, void*) noexcept {}
void* allocate_pinned(std::size_t) { refuse(); }
void release_pinned(void*) noexcept {}
std::size_t free_bytes() { refuse(); }
void* create_stream() { refuse(); }
void destroy_stream(void*) noexcept {}
void synchronise(void*) { refuse(); }
void* create_event() { refuse(); }
void destroy_event(void*) noexcept {}
void record(void*, void*) { refuse(); }
void wait(void*, void*) { refuse(); }
void synchronise_event(void*) { refuse(); }
float elapsed_ms(void*, void*) { refuse(); }
void copy_to_device(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, void*) {
  refuse();
}
void copy_to_host(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, void*) {
  refuse();
}

}  // namespace tessera::cuda
