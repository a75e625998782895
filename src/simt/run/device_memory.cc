// The device's memory as the host program sees it: allocation, copies, fills.
#include <fmt/format.h>

#include <cstddef>
#include <cstring>

#include "simt/run/session.h"

namespace tessera::simt {
namespace {

// cudaError_t
constexpr int kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2, kInvalidDevicePointer = 17;

}  // namespace

int Session::allocate(void** p, std::size_t bytes, int memory) {
  if (pretends_) {
    *p = reinterpret_cast<void*>(alignof(std::max_align_t));  // as good as any that is not null
    return kSuccess;
  }
  uses_managed_ |= memory == SIMT_MANAGED;
  if (bytes == 0) {
    *p = nullptr;
    return kSuccess;
  }
  *p = memory_.allocate(bytes, memory == SIMT_DEVICE    ? Region::Kind::kDevice
                               : memory == SIMT_MANAGED ? Region::Kind::kManaged
                                                        : Region::Kind::kPinned);
  if (*p != nullptr) return kSuccess;
  return error_ = kMemoryAllocation;
}

int Session::release(void* p) {
  if (p == nullptr || pretends_) return kSuccess;
  memory_.changed_by_host();
  if (memory_.release(p)) return kSuccess;
  return error_ = kInvalidDevicePointer;
}

int Session::copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t width, std::size_t rows, int kind, void* pc) {
  if (pretends_) return kSuccess;
  for (std::size_t row = 0; row < rows; ++row) {
    void* target = static_cast<char*>(to) + row * to_pitch;
    const void* source = static_cast<const char*>(from) + row * from_pitch;
    for (const void* end : {static_cast<const void*>(target), source}) {
      const auto at = reinterpret_cast<std::uintptr_t>(end);
      Region* region = memory_.find(at);
      const bool must_be_device = (end == target && (kind == 1 || kind == 3)) ||
                                  (end == source && (kind == 2 || kind == 3));
      const bool fits = region != nullptr && at + width <= region->high;
      if (fits || (region == nullptr && !must_be_device)) continue;
      Finding f;
      f.rule = rule::kGlobalBounds;
      f.place = symbols_->place(
          static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_));
      f.message =
          region == nullptr
              ? fmt::format(
                    "cudaMemcpy {} {} bytes {} an address that no allocation of "
                    "the device holds",
                    end == target ? "writes" : "reads", width, end == target ? "to" : "from")
              : fmt::format("cudaMemcpy {} {} bytes past the end of an allocation of {}",
                            end == target ? "writes" : "reads", at + width - region->high,
                            region->bytes());
      f.remedy = "give cudaMemcpy the bytes of the smaller of the two, and the right direction";
      add(std::move(f));
      return error_ = kInvalidValue;
    }
    const Region* source_region = memory_.find(reinterpret_cast<std::uintptr_t>(source));
    if (options_.watch.check && !was_refused_ && !out_of_time_ && source_region != nullptr) {
      const std::size_t first = memory_.first_uninitialised(source, width);
      if (first != width && kind == 2) {
        std::size_t missing = 0;
        const std::uint8_t* flags =
            source_region->flags + (reinterpret_cast<std::uintptr_t>(source) - source_region->low);
        for (std::size_t i = 0; i < width; ++i) missing += (flags[i] & kInitialised) == 0;
        Finding f;
        f.rule = rule::kNeverWritten;
        f.place = symbols_->place(
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_));
        f.array = source_region->name;
        f.message = fmt::format(
            "{} of the {} bytes copied to the host were never written, the first at byte {} of {}",
            missing, width, first, source_region->name);
        f.remedy = "let the grid cover the whole output: round the number of blocks up";
        add(std::move(f));
      }
    }
    std::memmove(target, source, width);
    memory_.mark_initialised(target, width);
  }
  memory_.changed_by_host();
  return kSuccess;
}

int Session::set(void* to, int value, std::size_t bytes, void* pc) {
  if (bytes == 0 || pretends_) return kSuccess;
  const auto at = reinterpret_cast<std::uintptr_t>(to);
  Region* region = memory_.find(at);
  if (region == nullptr || at + bytes > region->high) {
    Finding f;
    f.rule = rule::kGlobalBounds;
    f.place = symbols_->place(
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_));
    f.message = fmt::format("cudaMemset of {} bytes leaves the allocation", bytes);
    f.remedy = "give cudaMemset the bytes that were allocated";
    add(std::move(f));
    return error_ = kInvalidValue;
  }
  std::memset(to, value, bytes);
  memory_.mark_initialised(to, bytes);
  memory_.changed_by_host();
  return kSuccess;
}

}  // namespace tessera::simt
