#include "core/host_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>

#include "core/int_math.h"
#include "tessera/error.h"

namespace tessera {

void HostBuffer::Free::operator()(void* p) const noexcept { std::free(p); }

HostBuffer::HostBuffer(const char* operation, std::int64_t bytes, Pages pages) {
  if (bytes <= 0) return;
  constexpr std::int64_t kLargePage = std::int64_t{2} << 20, kFewBytes = kLargePage / 8;
  const bool large = pages == Pages::kLarge && bytes >= kFewBytes;
  // aligned_alloc takes multiples of the alignment only.
  const std::int64_t step = large ? kLargePage : 256;
  const std::int64_t rounded = bytes > INT64_MAX - (step - 1) ? bytes : round_up(bytes, step);
  data_.reset(
      std::aligned_alloc(static_cast<std::size_t>(step), static_cast<std::size_t>(rounded)));
  if (!data_) {
    throw Error(ErrorCode::kOutOfMemory,
                fmt::format("{}: a buffer of {} bytes is not available", operation, rounded));
  }
  if (large) madvise(data_.get(), static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
}

}  // namespace tessera
