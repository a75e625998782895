// Asynchronous copies to shared memory: they arrive when they are waited for.
#include <algorithm>
#include <cstring>

#include "simt/run/access.h"

namespace tessera::simt {

void Worker::copy_async(void* to, const void* from, unsigned bytes, unsigned source_bytes,
                        void* pc) {
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  if (watching == nullptr) {
    std::memcpy(to, from, source_bytes);
    std::memset(static_cast<char*>(to) + source_bytes, 0, bytes - source_bytes);
    return;
  }
  if (source_bytes != 0) access(source, source_bytes, false, pc);
  access(target, bytes, true, pc);
  const std::uintptr_t offset = target - arena_;
  if (offset >= kArenaBytes) return;  // reported
  const Placed& placed = placed_[owner_[offset / kGranule]];
  const std::size_t inside = offset - placed.offset;
  if (inside + bytes > placed.bytes) return;  // reported; nothing must be written there
  if (watch_.check) {
    for (unsigned b = 0; b < bytes; ++b) placed.shadow.at(inside + b).in_flight = 1;
  }
  if (lane_->copies.empty()) lane_->copies.emplace_back();
  lane_->copies.back().push_back(
      {target, source, bytes, source_bytes, offset_of(pc), lane_->waits});
}

void Worker::copy_commit() {
  if (watching == nullptr) return;
  if (lane_->copies.empty()) lane_->copies.emplace_back();
  lane_->copies.emplace_back();
}

void Worker::copy_wait(unsigned pending) {
  if (watching == nullptr) return;
  ++lane_->waits;
  auto& groups = lane_->copies;
  while (groups.size() > std::size_t{pending} + 1) {
    for (const PendingCopy& copy : groups.front()) finish_copy(copy);
    groups.erase(groups.begin());
  }
}

void Worker::finish_copy(const PendingCopy& copy) {
  auto* to = reinterpret_cast<char*>(copy.to);
  std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.source_bytes);
  std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  if (!watch_.check) return;
  const Placed& placed = placed_[owner_[(copy.to - arena_) / kGranule]];
  const std::size_t inside = copy.to - arena_ - placed.offset;
  for (unsigned b = 0; b < copy.bytes; ++b) placed.shadow.at(inside + b).in_flight = 0;
  touch_cells(placed, inside, copy.bytes, true, copy.pc, false);
}

/// The thread's copy to p, which is in flight, was in no group when the thread waited for groups.
bool Worker::is_without_group(unsigned thread, std::uintptr_t p) const {
  const Lane& lane = lanes_[thread];
  if (lane.copies.empty()) return false;
  return std::any_of(
      lane.copies.back().begin(), lane.copies.back().end(),
      [&](const PendingCopy& copy) { return p - copy.to < copy.bytes && lane.waits > copy.waits; });
}

// Of a block that has ended without waiting for them.
void Worker::forget_copies() {
  for (unsigned i = 0; i < launch_->threads; ++i) {
    for (auto& group : lanes_[i].copies) {
      for (const PendingCopy& copy : group) {
        const Placed& placed = placed_[owner_[(copy.to - arena_) / kGranule]];
        if (!placed.shadow) continue;
        const std::size_t inside = copy.to - arena_ - placed.offset;
        for (unsigned b = 0; b < copy.bytes; ++b) placed.shadow.at(inside + b).in_flight = 0;
      }
    }
  }
}

}  // namespace tessera::simt
