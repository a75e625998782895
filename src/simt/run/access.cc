// What a worker does at each access of a thread.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "simt/run/worker.h"

namespace tessera::simt {
namespace {

constexpr std::size_t kGranule = 16;

std::uint64_t id_of(const Region& region) { return region.low; }

}  // namespace

void Worker::access(std::uintptr_t p, unsigned bytes, bool write, void* pc_address, bool atomic) {
  if (p - stack_low_ < Stacks::kBytes) return;  // the thread's own
  const std::uint32_t pc = offset_of(pc_address);
  last_pc_ = pc;
  ++accesses_;
  if (--budget_ == 0) refill();
  const std::uintptr_t offset = p - arena_;
  if (offset < kArenaBytes) {
    shared_access(offset, bytes, write, pc, atomic);
  } else {
    global_access(p, bytes, write, pc, atomic);
  }
}

RawFinding* Worker::report(RawRule rule, std::uint32_t pc, std::uint32_t other_pc,
                           std::uint64_t array) {
  RawFinding* f = recorder_.first(rule, pc, other_pc, array);
  if (f == nullptr) return nullptr;
  f->thread = running_thread();
  f->barrier_pc = barrier_pc_;
  f->phase = phase_;
  for (const StepCount& s : steps_) {
    if (s.pc == barrier_pc_) f->step = s.times;
  }
  return f;
}

// --- shared memory ------------------------------------------------------------------------------

std::string Worker::shared_element(const SharedArray& array, std::uintptr_t p) const {
  std::size_t index = (p - arena_ - array.offset) / array.element_bytes;
  std::string text;
  for (int dim = 3; dim >= 1; --dim) {
    if (array.extents[dim] == 0) continue;
    text = fmt::format("[{}]", index % array.extents[dim]) + text;
    index /= array.extents[dim];
  }
  if (array.extents[0] == 0 && !array.is_dynamic) return "";
  return fmt::format("[{}]", index) + text;
}

static std::int64_t pitch_of(const SharedArray& array) {
  if (array.extents[1] == 0) return 0;
  std::size_t pitch = array.element_bytes;
  for (int dim = 1; dim < 4 && array.extents[dim] != 0; ++dim) pitch *= array.extents[dim];
  return static_cast<std::int64_t>(pitch);
}

void Worker::shared_access(std::size_t offset, unsigned bytes, bool write, std::uint32_t pc,
                           bool atomic) {
  const std::uint8_t owner = owner_[offset / kGranule];
  if (owner == 0) return shared_bounds(offset, bytes, write, pc);
  const SharedArray& array = launch_->arrays[owner - 1];
  const std::size_t inside = offset - array.offset;
  if (inside + bytes > array.bytes) return shared_bounds(offset, bytes, write, pc);
  if (watch_.count) log_access(inside, bytes, write, pc, true, shared_log_ids_[owner - 1]);
  if ((offset & (bytes - 1)) != 0 && (bytes & (bytes - 1)) == 0) {
    if (RawFinding* f = report(RawRule::kMisaligned, pc, 0, owner)) {
      f->array = array.name;
      f->element = shared_element(array, arena_ + offset);
      f->is_write = write;
      f->row_pitch = pitch_of(array);
      f->detail =
          fmt::format("{} bytes at an address that is {} mod {}", bytes, offset % bytes, bytes);
    }
  }
  Shadow& shadow = shared_shadows_[owner - 1];
  shadow.refine(inside, bytes);
  if (lane_->sequence != Access::kLastSequence) ++lane_->sequence;
  const std::size_t step = std::size_t{1} << shadow.shift();
  for (std::size_t at = inside & ~(step - 1); at < inside + bytes; at += step) {
    touch_shared(array, shadow.at(at), arena_ + array.offset + at, write, pc, atomic);
  }
}

void Worker::touch_shared(const SharedArray& array, Cell& cell, std::uintptr_t p, bool write,
                          std::uint32_t pc, bool atomic) {
  const std::uint64_t id = array.offset;
  if (cell.in_flight != 0) {
    if (RawFinding* f = report(RawRule::kCopyInFlight, pc, cell.write.pc, id)) {
      f->array = array.name;
      f->element = shared_element(array, p);
      f->is_write = write;
      f->other_thread = thread_at(cell.write);
      f->has_other_thread = true;
    }
    return;
  }
  const auto race = [&](RawRule rule, const Access& writer, const Access& other, bool waw) {
    report_race(rule, writer, other, waw, array.name, shared_element(array, p), id,
                pitch_of(array));
  };
  const Access mine = stamp(pc);
  const bool written_now = cell.write.epoch == epoch_;
  if (write) {
    if (written_now && !orders(cell.write) && !(atomic && cell.write_is_atomic != 0)) {
      race(RawRule::kSharedWaw, cell.write, mine, true);
    }
    for (const Access& read : cell.read) {
      if (read.epoch == epoch_ && !orders(read)) race(RawRule::kSharedReadWrite, mine, read, false);
    }
    cell.write = mine;
    cell.write_is_atomic = atomic;
    return;
  }
  if (written_now && !orders(cell.write)) {
    race(RawRule::kSharedReadWrite, cell.write, mine, false);
  } else if (cell.write.epoch < block_first_epoch_ && pending_reads_.size() < 4096) {
    pending_reads_.push_back({p, pc, running_});
  }
  if (cell.read[0].epoch != epoch_) {
    cell.read[0] = mine;
    cell.read[1].epoch = 0;
  } else if (cell.read[0].thread != running_) {
    cell.read[1] = mine;
  } else if (cell.read[0].warp_epoch != mine.warp_epoch) {
    cell.read[0] = mine;
  }
}

// A word that someone writes later in the same interval was a race; one that nobody does is not
// initialised.
void Worker::finish_reads() {
  for (const PendingRead& read : pending_reads_) {
    const std::uint8_t owner = owner_[(read.address - arena_) / kGranule];
    const SharedArray& array = launch_->arrays[owner - 1];
    const Cell& cell = shared_shadows_[owner - 1].at(read.address - arena_ - array.offset);
    if (cell.write.epoch >= block_first_epoch_) continue;
    running_ = read.thread;
    if (RawFinding* f = report(RawRule::kUninitialisedShared, read.pc, 0, array.offset)) {
      f->array = array.name;
      f->element = shared_element(array, read.address);
    }
  }
  pending_reads_.clear();
}

void Worker::report_race(RawRule rule, const Access& writer, const Access& other,
                         bool other_is_write, const std::string& array, const std::string& element,
                         std::uint64_t id, std::int64_t row_pitch) {
  const bool same_warp = writer.thread / 32 == other.thread / 32;
  RawFinding* f = report(rule, writer.pc, other.pc, id);
  if (f == nullptr) {
    // A pair from two warps says more than one from within a warp.
    f = recorder_.find(rule, writer.pc, other.pc, id);
    if (!f->same_warp || same_warp) return;
  }
  f->array = array;
  f->element = element;
  f->thread = thread_at(writer);
  f->other_thread = thread_at(other);
  f->has_other_thread = true;
  f->same_warp = same_warp;
  f->is_write = other_is_write;
  f->sequence = writer.sequence;
  f->other_sequence = other.sequence;
  f->row_pitch = row_pitch;
}

void Worker::shared_bounds(std::size_t offset, unsigned bytes, bool write, std::uint32_t pc) {
  if (!watch_.check) return;
  const SharedArray* closest = nullptr;
  std::size_t distance = ~std::size_t{0};
  bool is_past = false;
  for (const SharedArray& array : launch_->arrays) {
    if (array.bytes == 0 && array.name.empty()) continue;
    const bool past = offset + bytes > array.offset;
    const std::size_t d =
        past ? offset - std::min(offset, array.offset + array.bytes) : array.offset - offset;
    if (d < distance) closest = &array, distance = d, is_past = past;
  }
  RawFinding* f =
      report(RawRule::kSharedBounds, pc, 0, closest == nullptr ? 0 : closest->offset + 1);
  if (f == nullptr) return;
  f->is_write = write;
  if (closest == nullptr) {
    f->detail = "the kernel has no shared memory there";
    return;
  }
  f->array = closest->name;
  const auto element = static_cast<std::int64_t>(closest->element_bytes);
  const auto index =
      (static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(closest->offset)) / element;
  f->element = fmt::format("[{}]", index);
  f->detail =
      fmt::format("{} byte{} {} the {} bytes of {}", is_past ? distance + bytes : distance,
                  (is_past ? distance + bytes : distance) == 1 ? "" : "s",
                  is_past ? "past the end of" : "before", closest->bytes,
                  closest->is_dynamic ? "dynamic shared memory given at the launch" : "the array");
}

// --- global memory ------------------------------------------------------------------------------

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

void Worker::global_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc,
                           bool atomic) {
  CachedRegion& cached = region_cache_[pc % region_cache_.size()];
  if (cached.region == nullptr || cached.pc != pc || p < cached.region->low ||
      p + bytes > cached.region->high) {
    Region* found = memory_.find(p);
    if (found == nullptr || p + bytes > found->high) return outside(p, bytes, write, pc);
    const NamedPointer* pointer = named(*found, p);
    const std::uintptr_t base = pointer == nullptr ? found->low : pointer->base;
    auto [it, is_new] = global_log_ids_.try_emplace(base);
    if (is_new) it->second = log_array(pointer == nullptr ? found->name : pointer->name, base);
    cached = {found, pc, it->second, -1};
    for (int i = 0; launch_->matrices != nullptr && i < 3; ++i) {
      if ((*launch_->matrices)[i].region == found) cached.matrix = static_cast<std::int8_t>(i);
    }
  }
  Region& region = *cached.region;
  const std::size_t inside = p - region.low;
  if (watch_.count && region.kind != Region::Kind::kVariable) {
    log_access(p, bytes, write, pc, false, cached.log_id);
  }
  if (!watch_.check) return;
  if ((p & (bytes - 1)) != 0 && (bytes & (bytes - 1)) == 0) {
    if (RawFinding* f = report(RawRule::kMisaligned, pc, 0, id_of(region))) {
      f->element = element_of(region, p, &f->array);
      f->is_write = write;
      f->detail = fmt::format("{} bytes at an address that is {} mod {}", bytes, p % bytes, bytes);
    }
  }
  std::uint8_t* flags = region.flags + inside;
  if (write) {
    std::uint32_t& seen = stores_seen_[pc % stores_seen_.size()];
    if (seen != pc + 1) {
      seen = pc + 1;
      const NamedPointer* pointer = named(region, p);
      if (pointer != nullptr && pointer->is_const) {
        if (RawFinding* f = report(RawRule::kInputWritten, pc, 0, id_of(region))) {
          f->element = element_of(region, p, &f->array);
          f->is_write = true;
        }
      }
    }
    for (unsigned i = 0; i < bytes; ++i) flags[i] |= kInitialised | kWrittenNow;
  } else {
    bool initialised = true;
    for (unsigned i = 0; i < bytes; ++i) initialised &= (flags[i] & kInitialised) != 0;
    if (!initialised) {
      if (RawFinding* f = report(RawRule::kUninitialisedGlobal, pc, 0, id_of(region))) {
        f->element = element_of(region, p, &f->array);
      }
    }
  }
  Shadow& shadow = shadow_of(region);
  shadow.refine(inside, bytes);
  if (lane_->sequence != Access::kLastSequence) ++lane_->sequence;
  const std::size_t step = std::size_t{1} << shadow.shift();
  for (std::size_t at = inside & ~(step - 1); at < inside + bytes; at += step) {
    touch_global(region, shadow.at(at), region.low + at, write, pc, atomic);
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
  const bool is_mapped = !harmless && p >= kPage &&
                         msync(reinterpret_cast<void*>(p / kPage * kPage), kPage, MS_ASYNC) == 0;
  if (f != nullptr) {
    f->is_write = write;
    const std::uintptr_t last = p + bytes;
    if (stacks_.contains(p)) {
      f->detail = "another thread's local memory";
    } else if (near != nullptr && near->is_released && p >= near->low && p < near->high) {
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

void Worker::assertion_failed(const std::string& what, void* pc) {
  has_faulted_ = true;
  if (RawFinding* f = report(RawRule::kCrash, offset_of(pc), 0, 0)) {
    f->detail = fmt::format("fails the assertion '{}'", what);
  }
  stop_thread();
}

void Worker::index_out_of_range(std::uint64_t index, const std::string& type, void* pc) {
  if (RawFinding* f = report(RawRule::kIndexBounds, offset_of(pc), 0, 0)) {
    f->detail = fmt::format("index {} of {}", static_cast<std::int32_t>(index), type);
  }
}

// --- rows and columns ---------------------------------------------------------------------------

void Worker::note_use(int matrix, std::uintptr_t p, bool write, std::uint32_t pc) {
  const MatrixWatch& m = (*launch_->matrices)[matrix];
  const auto element = static_cast<std::int64_t>((p - m.region->low) / m.element_bytes);
  const std::int64_t row = element / m.columns, column = element % m.columns;
  if (matrix == 2) {
    if (!write) return;
    stored_ = {std::min(stored_[0], row), std::max(stored_[1], row), std::min(stored_[2], column),
               std::max(stored_[3], column)};
    return;
  }
  const std::int64_t line = matrix == 0 ? row : column, along = matrix == 0 ? column : row;
  MatrixUse* use = nullptr;
  for (MatrixUse& u : uses_) {
    if (u.pc == pc && u.matrix == matrix) use = &u;
  }
  if (use == nullptr) {
    uses_.push_back({pc, matrix, -1, nullptr, {}});
    use = &uses_.back();
  }
  if (use->last_line != line) {
    const auto [it, is_new] = use->lines.try_emplace(line, LineUse{running_, along, along});
    use->last_line = line;
    use->last_use = &it->second;
  }
  use->last_use->first = std::min(use->last_use->first, along);
  use->last_use->last = std::max(use->last_use->last, along);
}

// A block needs the rows of A and the columns of B that it stores of C, and no others. What lies
// beyond is the neighbour that a load without a guard of its own met behind the end of a row: the
// start of the one row of A behind the last, or the first columns of B, a row further down.
void Worker::report_overruns() {
  if (launch_->matrices == nullptr || stored_[1] < 0) return;
  for (const MatrixUse& use : uses_) {
    const MatrixWatch& m = (*launch_->matrices)[use.matrix];
    if (use.matrix == 0) {
      const auto it = use.lines.upper_bound(stored_[1]);
      if (it == use.lines.end() || it->first != stored_[1] + 1 ||
          std::next(it) != use.lines.end() || use.lines.begin()->first < stored_[0] ||
          it->second.first != 0 || it->second.last == m.columns - 1) {
        continue;
      }
      running_ = it->second.thread;
      if (RawFinding* f = report(RawRule::kRowOverrun, use.pc, 0, 0)) {
        f->array = "A";
        f->element = fmt::format("[{}][{}]", stored_[1], m.columns);
        f->detail = fmt::format("row {} from column {} on", it->first, it->second.first);
      }
      continue;
    }
    const auto it = use.lines.begin();
    if (it == use.lines.end() || it->first != 0 || stored_[2] == 0 || it->second.first == 0 ||
        stored_[3] != m.columns - 1 || use.lines.rbegin()->first != stored_[3]) {
      continue;
    }
    running_ = it->second.thread;
    if (RawFinding* f = report(RawRule::kRowOverrun, use.pc, 0, 1)) {
      f->array = "B";
      f->element = fmt::format("[{}][{}]", it->second.first - 1, m.columns);
      f->detail = fmt::format("row {} from column 0 on", it->second.first);
    }
  }
}

// --- counting -----------------------------------------------------------------------------------

std::uint16_t Worker::log_array(const std::string& name, std::uintptr_t base) {
  const std::pair<std::string, std::string> key{launch_->name, name};
  auto it = std::find(log_names_.begin(), log_names_.end(), key);
  if (it == log_names_.end()) it = log_names_.insert(it, key);
  const auto id = static_cast<std::uint16_t>(it - log_names_.begin());
  log_.set_base(id, base);
  return id;
}

void Worker::log_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc,
                        bool is_shared, std::uint16_t array) {
  LoggedAccess a{};
  a.address = p;
  a.pc = pc;
  a.array = array;
  a.bytes = static_cast<std::uint8_t>(bytes);
  a.is_shared = is_shared;
  a.is_write = write;
  log_lane_->push_back(a);
}

// --- asynchronous copies ------------------------------------------------------------------------

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
  const std::uint8_t owner =
      target - arena_ < kArenaBytes ? owner_[(target - arena_) / kGranule] : 0;
  if (owner == 0 || target - arena_ + bytes >
                        launch_->arrays[owner - 1].offset + launch_->arrays[owner - 1].bytes) {
    return;  // reported; nothing must be written there
  }
  if (watch_.check) {
    Shadow& shadow = shared_shadows_[owner - 1];
    const std::size_t inside = target - arena_ - launch_->arrays[owner - 1].offset;
    for (unsigned b = 0; b < bytes; ++b) shadow.at(inside + b).in_flight = 1;
  }
  if (lane_->copies.empty()) lane_->copies.emplace_back();
  lane_->copies.back().push_back({target, source, bytes, source_bytes, offset_of(pc)});
}

void Worker::copy_commit() {
  if (watching == nullptr) return;
  if (lane_->copies.empty()) lane_->copies.emplace_back();
  lane_->copies.emplace_back();
}

void Worker::copy_wait(unsigned pending) {
  if (watching == nullptr) return;
  auto& groups = lane_->copies;
  while (groups.size() > std::size_t{pending} + 1) {
    for (const PendingCopy& copy : groups.front()) {
      auto* to = reinterpret_cast<char*>(copy.to);
      std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.source_bytes);
      std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
      if (!watch_.check) continue;
      const SharedArray& array = launch_->arrays[owner_[(copy.to - arena_) / kGranule] - 1];
      Shadow& shadow = shared_shadows_[&array - launch_->arrays.data()];
      const std::size_t inside = copy.to - arena_ - array.offset;
      const std::size_t step = std::size_t{1} << shadow.shift();
      for (std::size_t at = inside & ~(step - 1); at < inside + copy.bytes; at += step) {
        shadow.at(at).in_flight = 0;
        touch_shared(array, shadow.at(at), arena_ + array.offset + at, true, copy.pc, false);
      }
    }
    groups.erase(groups.begin());
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
