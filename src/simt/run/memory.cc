#include "simt/run/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace tessera::simt {
namespace {

constexpr int kPoison = 0xFF;  // every float, double and half of such bytes is a NaN

std::uint8_t* map_bytes(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(p);
}

std::size_t mapped_bytes(std::size_t bytes) {
  return (bytes + 2 * Memory::kZone + 4095) / 4096 * 4096;
}

}  // namespace

Memory::~Memory() {
  for (auto& [low, region] : regions_) {
    if (region->flags != nullptr) munmap(region->flags, region->bytes() + 1);
    if (region->kind != Region::Kind::kVariable && !region->is_released) {
      munmap(reinterpret_cast<void*>(low - kZone), mapped_bytes(region->bytes()));
    }
  }
}

void* Memory::allocate(std::size_t bytes, Region::Kind kind) {
  std::uint8_t* mapped = map_bytes(mapped_bytes(bytes));
  if (mapped == nullptr) return nullptr;
  auto region = std::make_unique<Region>();
  region->low = reinterpret_cast<std::uintptr_t>(mapped) + kZone;
  region->high = region->low + bytes;
  region->kind = kind;
  region->number = ++count_;
  region->name = fmt::format("allocation {}", region->number);
  region->flags = map_bytes(bytes + 1);
  if (region->flags == nullptr) return nullptr;
  if (kind == Region::Kind::kDevice) {
    // An overrun of a few elements meets NaNs too, whichever way it goes.
    constexpr std::size_t kEdge = 4096;
    std::memset(mapped + kZone - kEdge, kPoison, bytes + 2 * kEdge);
  } else {
    std::memset(region->flags, kInitialised, bytes);  // the host may write there any time
  }
  void* p = reinterpret_cast<void*>(region->low);
  regions_[region->low] = std::move(region);
  return p;
}

bool Memory::release(void* p) {
  const auto it = regions_.find(reinterpret_cast<std::uintptr_t>(p));
  if (it == regions_.end() || it->second->is_released ||
      it->second->kind == Region::Kind::kVariable) {
    return false;
  }
  Region& region = *it->second;
  region.is_released = true;
  region.shadows.clear();
  // The addresses stay taken, so that a later use is told from one of a new allocation.
  void* mapped = reinterpret_cast<void*>(region.low - kZone);
  munmap(mapped, mapped_bytes(region.bytes()));
  mmap(mapped, mapped_bytes(region.bytes()), PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return true;
}

void Memory::add_variable(std::uintptr_t low, std::size_t bytes, std::string name) {
  auto region = std::make_unique<Region>();
  region->low = low;
  region->high = low + bytes;
  region->kind = Region::Kind::kVariable;
  region->name = std::move(name);
  region->flags = map_bytes(bytes + 1);
  std::memset(region->flags, kInitialised, bytes);
  regions_[low] = std::move(region);
}

Region* Memory::find(std::uintptr_t p) {
  auto it = regions_.upper_bound(p);
  if (it == regions_.begin()) return nullptr;
  Region& region = *std::prev(it)->second;
  return p < region.high && !region.is_released ? &region : nullptr;
}

Region* Memory::near(std::uintptr_t p) {
  Region* best = nullptr;
  std::uintptr_t best_distance = ~std::uintptr_t{0};
  for (auto& [low, region] : regions_) {
    const std::uintptr_t distance = p < low ? low - p : p >= region->high ? p - region->high : 0;
    if (distance < best_distance) best = region.get(), best_distance = distance;
  }
  return best;
}

bool Memory::is_zone(std::uintptr_t p) const {
  auto it = regions_.upper_bound(p);
  const auto in_zone = [&](const Region& r) {
    return r.kind != Region::Kind::kVariable && !r.is_released && p + kZone >= r.low &&
           p < r.high + kZone - 64;
  };
  if (it != regions_.end() && in_zone(*it->second)) return true;
  return it != regions_.begin() && in_zone(*std::prev(it)->second);
}

void Memory::mark_initialised(void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  Region* region = find(at);
  if (region == nullptr || region->kind != Region::Kind::kDevice) return;
  const std::size_t offset = at - region->low;
  std::memset(region->flags + offset, kInitialised, std::min(bytes, region->bytes() - offset));
}

std::size_t Memory::first_uninitialised(const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  Region* region = find(at);
  if (region == nullptr) return bytes;
  const std::size_t offset = at - region->low;
  const std::uint8_t* first = region->flags + offset;
  const std::uint8_t* last = first + std::min(bytes, region->bytes() - offset);
  return static_cast<std::size_t>(
      std::find_if(first, last, [](std::uint8_t f) { return (f & kInitialised) == 0; }) - first);
}

}  // namespace tessera::simt
