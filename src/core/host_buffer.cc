#include "core/host_buffer.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/int_math.h"
#include "tessera/error.h"

namespace tessera {

void HostBuffer::Free::operator()(void* p) const noexcept { std::free(p); }

HostBuffer::HostBuffer(const char* operation, std::int64_t bytes) {
  if (bytes <= 0) return;
  // aligned_alloc takes multiples of the alignment only.
  const std::int64_t rounded = bytes > INT64_MAX - 255 ? bytes : round_up(bytes, 256);
  data_.reset(std::aligned_alloc(256, static_cast<std::size_t>(rounded)));
  if (!data_) {
    throw Error(ErrorCode::kOutOfMemory,
                fmt::format("{}: a buffer of {} bytes is not available", operation, rounded));
  }
}

}  // namespace tessera
