// Global memory: what an access to an allocation, or beside one, is looked at for.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "simt/run/access.h"

namespace tessera::simt {
namespace {

std::uint64_t id_of(const Region& region) { return region.low; }

}  // namespace

const NamedPointer* Worker::named(const Region& region, std::uintptr_t p) const {
  const NamedPointer* best = nullptr;
  for (const NamedPointer& pointer : launch_->pointers) {
    if (pointer.base < region.low || pointer.base >= region.high) continue;
    if (best == nullptr || pointer.base <= p) best = &pointer;
  }
  return best;
}

std::string Worker::element_of(const Region& region, std::uintptr_t p, std::string* array) const {
  const NamedPointer* pointer = named(region, p);
  *array = pointer == nullptr ? region.name : pointer->name;
  const std::uintptr_t base = pointer == nullptr ? region.low : pointer->base;
  const auto bytes = static_cast<std::int64_t>(pointer == nullptr ? 4 : pointer->element_bytes);
  const auto distance = static_cast<std::int64_t>(p - base);
  return fmt::format("[{}]", (distance - (distance < 0 ? bytes - 1 : 0)) / bytes);
}

Shadow& Worker::shadow_of(Region& region) {
  Shadow& shadow = region.shadows[index_];
  if (!shadow) shadow.reset(region.bytes());
  return shadow;
}

Region* Worker::region_at(std::uintptr_t p, unsigned bytes, std::uint32_t pc,
                          std::uint16_t* log_id) {
  CachedRegion& cached = region_cache_[pc % region_cache_.size()];
  if (cached.region == nullptr || cached.pc != pc || p < cached.region->low ||
      p + bytes > cached.region->high) {
    Region* found = memory_.find(p);
    if (found == nullptr || p + bytes > found->high) return nullptr;
    const NamedPointer* pointer = named(*found, p);
    const std::uintptr_t base = pointer == nullptr ? found->low : pointer->base;
    auto [it, is_new] = global_log_ids_.try_emplace(base);
    if (is_new) it->second = log_array(pointer == nullptr ? found->name : pointer->name, base);
    cached = {found, pc, it->second};
  }
  *log_id = cached.log_id;
  return cached.region;
}

void Worker::note_store(const Region& region, std::uintptr_t p, std::uint32_t pc) {
  std::uint32_t& seen = stores_seen_[pc % stores_seen_.size()];
  if (seen == pc + 1) return;
  seen = pc + 1;
  const NamedPointer* pointer = named(region, p);
  if (pointer == nullptr || !pointer->is_const) return;
  if (RawFinding* f = report(RawRule::kInputWritten, pc, 0, id_of(region))) {
    f->element = element_of(region, p, &f->array);
    f->is_write = true;
  }
}

void Worker::global_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc,
                           bool atomic) {
  std::uint16_t log_id = 0;
  Region* at = region_at(p, bytes, pc, &log_id);
  if (at == nullptr) return outside(p, bytes, write, pc);
  Region& region = *at;
  const std::size_t inside = p - region.low;
  if (watch_.count && region.kind != Region::Kind::kVariable) {
    log_access(p, bytes, write, pc, false, log_id);
  }
  if (!watch_.check) return;
  if (is_misaligned(p, bytes)) {
    if (RawFinding* f = report(RawRule::kMisaligned, pc, 0, id_of(region))) {
      f->element = element_of(region, p, &f->array);
      f->is_write = write;
      f->detail = fmt::format("{} bytes at an address that is {} mod {}", bytes, p % bytes, bytes);
    }
    stop_at_fault();
  }
  std::uint8_t* flags = region.flags + inside;
  if (write) {
    note_store(region, p, pc);
    for (unsigned i = 0; i < bytes; ++i) flags[i] |= kInitialised | kWrittenNow;
  } else {
    std::uint8_t all = kInitialised;
    for (unsigned i = 0; i < bytes; ++i) all &= flags[i];
    if (all == 0) {
      if (RawFinding* f = report(RawRule::kUninitialisedGlobal, pc, 0, id_of(region))) {
        f->element = element_of(region, p, &f->array);
      }
    }
  }
  Shadow& shadow = shadow_of(region);
  shadow.refine(inside, bytes);
  count_access();
  const std::size_t step = std::size_t{1} << shadow.shift();
  for (std::size_t at_cell = inside & ~(step - 1); at_cell < inside + bytes; at_cell += step) {
    touch_global(region, shadow.at(at_cell), region.low + at_cell, write, pc, atomic);
  }
}

void Worker::touch_global(Region& region, Cell& cell, std::uintptr_t p, bool write,
                          std::uint32_t pc, bool atomic) {
  const Access mine = stamp(pc);
  const auto race = [&](RawRule rule, const Access& writer, const Access& other, bool waw) {
    std::string array;
    const std::string element = element_of(region, p, &array);
    report_race(rule, writer, other, waw, array, element, id_of(region), 0);
  };
  const auto in_other_block = [&](const Access& a) {
    return a.epoch >= launch_first_epoch_ && a.epoch < block_first_epoch_;
  };
  if (write) {
    const bool both_atomic = atomic && cell.write_is_atomic != 0;
    if (cell.write.epoch == epoch_ && !orders(cell.write) && !both_atomic) {
      race(RawRule::kGlobalWaw, cell.write, mine, true);
    } else if (in_other_block(cell.write) && !both_atomic && !acquired(cell.write.epoch)) {
      report_block_race(region, p, cell.write, true, true, pc);
    }
    for (const Access& read : cell.read) {
      if (read.epoch >= launch_first_epoch_) reads_its_writes_ = true;
      if (read.epoch == epoch_ && !orders(read)) {
        race(RawRule::kGlobalReadWrite, mine, read, false);
      } else if (in_other_block(read) && !acquired(read.epoch)) {
        report_block_race(region, p, read, false, true, pc);
      }
    }
    cell.write = mine;
    cell.write_is_atomic = atomic;
    if (atomic) reads_its_writes_ = true;
    return;
  }
  if (cell.write.epoch == epoch_ && !orders(cell.write)) {
    race(RawRule::kGlobalReadWrite, cell.write, mine, false);
  } else if (in_other_block(cell.write) && !acquired(cell.write.epoch)) {
    report_block_race(region, p, cell.write, true, false, pc);
  }
  if (cell.read[0].epoch != epoch_) {
    if (cell.read[0].epoch < block_first_epoch_) cell.read[1] = cell.read[0];
    cell.read[0] = mine;
  } else if (cell.read[0].thread != running_ && cell.read[1].epoch != epoch_) {
    cell.read[1] = mine;
  }
}

void Worker::report_block_race(Region& region, std::uintptr_t p, const Access& before,
                               bool was_write, bool write, std::uint32_t pc) {
  RawFinding* f = report(RawRule::kBlockRace, pc, before.pc, id_of(region));
  if (f == nullptr) return;
  f->element = element_of(region, p, &f->array);
  f->other_thread = thread_at(before);
  f->has_other_thread = true;
  f->is_write = write;
  f->detail = was_write ? "written" : "read";
}

void Worker::outside(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc) {
  // The kernel's arguments, on their way to the thread.
  const auto arguments = reinterpret_cast<std::uintptr_t>(launch_->launch->context);
  if (p - arguments < launch_->launch->context_bytes && !write) return;
  if (p - memory_.image_low < memory_.image_high - memory_.image_low && !write) return;
  const bool harmless = memory_.is_zone(p);
  Region* near = memory_.near(p);
  if (stacks_.is_guard(p)) {
    if (RawFinding* f = report(RawRule::kCrash, pc, 0, 1)) {
      f->detail = fmt::format("runs out of its {} KiB of local memory", Stacks::kBytes / 1024);
    }
    stop_thread();
  }
  RawFinding* f = report(RawRule::kGlobalBounds, pc, 0, near == nullptr ? 0 : id_of(*near));
  // Host memory is there, so going on does no harm.
  constexpr std::uintptr_t kPage = 4096;
  const bool is_freed = near != nullptr && near->is_released && p >= near->low && p < near->high;
  const bool is_mapped = !harmless && !is_freed && p >= kPage &&
                         msync(reinterpret_cast<void*>(p / kPage * kPage), kPage, MS_ASYNC) == 0;
  if (f != nullptr) {
    f->is_write = write;
    const std::uintptr_t last = p + bytes;
    if (stacks_.contains(p)) {
      f->detail = "another thread's local memory";
    } else if (is_freed) {
      f->element = element_of(*near, p, &f->array);
      f->detail = "memory that cudaFree has given back";
    } else if (near != nullptr && (harmless || (p < near->high && last > near->high))) {
      f->element = element_of(*near, p, &f->array);
      const bool past = last > near->high;
      f->detail = fmt::format("{} byte{} {} the {} bytes allocated",
                              past ? last - near->high : near->low - p,
                              (past ? last - near->high : near->low - p) == 1 ? "" : "s",
                              past ? "past the end of" : "before", near->bytes());
    } else if (is_mapped) {
      f->detail = "memory of the host: no allocation of the device holds this address";
    } else {
      f->detail = "an address that no allocation of the device holds";
      if (near != nullptr) {
        f->element = element_of(*near, p, &f->array);
        f->detail += fmt::format(" ({} bytes from {})",
                                 p < near->low ? near->low - p : p - near->high, f->array);
      }
    }
  }
  if (!harmless && !is_mapped && !(near != nullptr && p < near->high && !near->is_released)) {
    stop_thread();
  }
}

// --- order between blocks -----------------------------------------------------------------------

// An atomic by a block that has fenced publishes what the block did before; whoever meets it there
// afterwards has seen that.
void Worker::acquire_release(std::uintptr_t p) {
  std::vector<std::uint32_t>& released = releases_[p];
  acquired_.insert(acquired_.end(), released.begin(), released.end());
  if (!fenced_) return;
  if (std::find(released.begin(), released.end(), block_first_epoch_) == released.end()) {
    released.push_back(block_first_epoch_);
  }
  for (std::uint32_t block : acquired_) {
    if (std::find(released.begin(), released.end(), block) == released.end()) {
      released.push_back(block);
    }
  }
}

bool Worker::acquired(std::uint32_t epoch) const {
  const auto it =
      std::upper_bound(blocks_.begin(), blocks_.end(), epoch,
                       [](std::uint32_t e, const auto& block) { return e < block.first; });
  if (it == blocks_.begin()) return false;
  return std::find(acquired_.begin(), acquired_.end(), std::prev(it)->first) != acquired_.end();
}

}  // namespace tessera::simt
