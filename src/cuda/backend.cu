// The CUDA end of the seam in core/backend.h: devices, memory, streams, events, copies.
#include "core/backend.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>

#include "cuda/check.h"
#include "tessera/error.h"

namespace tessera::cuda {
namespace {

struct Devices {
  std::vector<DeviceInfo> list;
  std::string reason;  // why list is empty
};

DeviceInfo describe(int index) {
  cudaDeviceProp properties{};
  TESSERA_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  DeviceInfo info;
  info.space = Space::kCuda;
  info.index = index;
  info.name = properties.name;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.sm_count = properties.multiProcessorCount;
  info.max_threads_per_block = properties.maxThreadsPerBlock;
  info.shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  info.l2_cache_bytes = properties.l2CacheSize;
  return info;
}

Devices find() {
  Devices out;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    out.reason = std::string("no CUDA device can be used: ") + cudaGetErrorString(error) + " (" +
                 cudaGetErrorName(error) + ")";
    // CUDA says the same of a driver that is too old and of none at all.
    if (error == cudaErrorInsufficientDriver) {
      out.reason += "; is there an NVIDIA driver for CUDA " +
                    std::to_string(CUDART_VERSION / 1000) + " or newer?";
    }
    return out;
  }
  try {
    for (int i = 0; i < count; ++i) out.list.push_back(describe(i));
  } catch (const Error& e) {
    // A device's place in the list is its CUDA index, so one that cannot be read hides all.
    out.list.clear();
    out.reason = e.what();
    return out;
  }
  if (out.list.empty()) out.reason = "no CUDA device can be used: the driver reports none";
  return out;
}

const Devices& found() {
  // Never destroyed: see registry().
  static const Devices& instance = *new Devices(find());
  return instance;
}

cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }

std::string hex(const void* p) {
  char text[32];
  std::snprintf(text, sizeof(text), "%p", p);
  return text;
}

void copy(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
          std::size_t width, std::size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  if (width == 0 || rows == 0) return;
  if (rows == 1 || (dst_pitch == width && src_pitch == width)) {
    TESSERA_CUDA_CHECK(cudaMemcpyAsync(dst, src, width * rows, kind, stream));
    return;
  }
  // cudaDeviceProp::memPitch of every device: the widest pitch a 2D copy takes.
  constexpr std::size_t kMaxPitch = 0x7FFFFFFF;
  if (std::max(dst_pitch, src_pitch) <= kMaxPitch) {
    TESSERA_CUDA_CHECK(
        cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, rows, kind, stream));
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    TESSERA_CUDA_CHECK(cudaMemcpyAsync(static_cast<char*>(dst) + row * dst_pitch,
                                       static_cast<const char*>(src) + row * src_pitch, width, kind,
                                       stream));
  }
}

}  // namespace

const std::vector<DeviceInfo>& devices() { return found().list; }
std::string unavailable_reason() { return found().reason; }

int current_device() {
  int device = 0;
  TESSERA_CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

int device_of(const void* p, const char* argument) {
  if (devices().empty()) {
    throw Error(ErrorCode::kNoDevice, std::string("cuda: ") + argument +
                                          " is given as CUDA memory, but " + unavailable_reason());
  }
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, p);
  if (error == cudaErrorInvalidValue) {
    cudaGetLastError();  // not memory that CUDA knows
  } else {
    check(error, "cudaPointerGetAttributes");
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) {
      return attributes.device;
    }
  }
  throw Error(ErrorCode::kInvalidArgument,
              std::string("cuda: ") + argument + " at address " + hex(p) +
                  " is given as CUDA memory, but is not device or managed memory");
}

DeviceGuard::DeviceGuard(int device) {
  const int current = current_device();
  if (current == device) return;
  TESSERA_CUDA_CHECK(cudaSetDevice(device));
  previous_ = current;
}

DeviceGuard::~DeviceGuard() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

namespace {

/// Throws unless `error` is success, saying how much was asked for when there was not enough.
void check_allocation(cudaError_t error, std::size_t bytes, const char* call) {
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(ErrorCode::kOutOfMemory,
                "cuda: " + std::to_string(bytes) +
                    " bytes asked of cuda:" + std::to_string(current_device()) + ", which has " +
                    std::to_string(free_bytes()) + " free");
  }
  check(error, call);
}

/// Lets the thread do for a scope what a capture somewhere would forbid, but what no captured work
/// depends on.
class RelaxedCapture {
 public:
  RelaxedCapture() { TESSERA_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the thread's own
};

cudaMemPool_t create_pool(int device) {
  // The first product of a process may be one that is being captured.
  const RelaxedCapture relaxed;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  TESSERA_CUDA_CHECK(cudaMemPoolCreate(&pool, &properties));
  // By default a pool returns what is free at every synchronisation, and the next call pays again.
  std::uint64_t keep_all = UINT64_MAX;
  TESSERA_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
  return pool;
}

/// The current device's pool, created when first asked for and never destroyed: work that uses it
/// may still run when the process ends.
cudaMemPool_t scratch_pool() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const int device = current_device();
  const std::lock_guard lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  return pools[device] = create_pool(device);
}

}  // namespace

void* allocate(std::size_t bytes) {
  void* p = nullptr;
  check_allocation(cudaMalloc(&p, bytes), bytes, "cudaMalloc");
  return p;
}

void* allocate_on(void* stream, std::size_t bytes) {
  void* p = nullptr;
  check_allocation(cudaMallocFromPoolAsync(&p, bytes, scratch_pool(), as_stream(stream)), bytes,
                   "cudaMallocFromPoolAsync");
  return p;
}

void release_on(void* stream, void* p) noexcept { cudaFreeAsync(p, as_stream(stream)); }

void release(void* p) noexcept { cudaFree(p); }

void* allocate_pinned(std::size_t bytes) {
  void* p = nullptr;
  const cudaError_t error = cudaMallocHost(&p, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(ErrorCode::kOutOfMemory,
                "cuda: " + std::to_string(bytes) +
                    " bytes of page-locked host memory asked, which the system does not give");
  }
  check(error, "cudaMallocHost");
  return p;
}

void release_pinned(void* p) noexcept { cudaFreeHost(p); }

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  TESSERA_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

void* create_stream() {
  cudaStream_t stream = nullptr;
  // Non-blocking: work elsewhere on the default stream must not serialise with it.
  TESSERA_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void destroy_stream(void* stream) noexcept { cudaStreamDestroy(as_stream(stream)); }
void synchronise(void* stream) { TESSERA_CUDA_CHECK(cudaStreamSynchronize(as_stream(stream))); }

void* create_event() {
  cudaEvent_t event = nullptr;
  TESSERA_CUDA_CHECK(cudaEventCreate(&event));
  return event;
}

void destroy_event(void* event) noexcept { cudaEventDestroy(as_event(event)); }

void record(void* event, void* stream) {
  TESSERA_CUDA_CHECK(cudaEventRecord(as_event(event), as_stream(stream)));
}

void wait(void* stream, void* event) {
  TESSERA_CUDA_CHECK(cudaStreamWaitEvent(as_stream(stream), as_event(event), 0));
}

void synchronise_event(void* event) { TESSERA_CUDA_CHECK(cudaEventSynchronize(as_event(event))); }

float elapsed_ms(void* start, void* stop) {
  float ms = 0;
  TESSERA_CUDA_CHECK(cudaEventElapsedTime(&ms, as_event(start), as_event(stop)));
  return ms;
}

void copy_to_device(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                    std::size_t width, std::size_t rows, void* stream) {
  copy(dst, dst_pitch, src, src_pitch, width, rows, cudaMemcpyHostToDevice, as_stream(stream));
}

void copy_to_host(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                  std::size_t width, std::size_t rows, void* stream) {
  copy(dst, dst_pitch, src, src_pitch, width, rows, cudaMemcpyDeviceToHost, as_stream(stream));
}

}  // namespace tessera::cuda
