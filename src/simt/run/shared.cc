// Shared memory: where its arrays lie, and what an access to one of them is looked at for.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simt/run/access.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

constexpr std::size_t kArrayGap = 4096;  // between shared arrays: overruns land in no array
constexpr int kPoison = 0xFF;
constexpr std::size_t kMostArrays = 250;
constexpr std::size_t kMostPendingReads = 4096;

std::int64_t pitch_of(const SharedArray& array) {
  if (array.extents[1] == 0) return 0;
  std::size_t pitch = array.element_bytes;
  for (int dim = 1; dim < 4 && array.extents[dim] != 0; ++dim) pitch *= array.extents[dim];
  return static_cast<std::int64_t>(pitch);
}

}  // namespace

// --- where arrays lie ---------------------------------------------------------------------------

void* Worker::shared(simt_shared_array& array) {
  // The slot holds the launch's number and the array's, so that one look-up a thread suffices.
  static_assert(sizeof array.slot == 8);
  const std::atomic_ref<std::uint64_t> slot(array.slot);
  const auto serial = static_cast<std::uint64_t>(launch_->serial);
  std::uint64_t known = slot.load(std::memory_order_acquire);
  if (known >> 16 == serial) {
    const Placed& placed = placed_[(known & 0xFFFF) + 1];
    if (placed.array != nullptr) return reinterpret_cast<void*>(arena_ + placed.offset);
  }
  std::unique_lock lock(launch_->layout_mutex);
  known = slot.load(std::memory_order_relaxed);
  if (known >> 16 != serial) {
    if (launch_->arrays.size() >= kMostArrays) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("check: more than {} shared arrays in one kernel", kMostArrays));
    }
    SharedArray made;
    made.name = array.name;
    made.bytes = array.bytes;
    made.element_bytes = std::max<std::size_t>(array.element_bytes, 1);
    std::copy(std::begin(array.extents), std::end(array.extents), made.extents);
    made.offset = (launch_->arena_end + kArrayGap + 127) / 128 * 128;
    const std::size_t alignment = std::max<std::size_t>(array.alignment, 1);
    const std::size_t static_bytes =
        (launch_->static_bytes + alignment - 1) / alignment * alignment + array.bytes;
    if (made.bytes > kArenaBytes || made.offset + made.bytes + kArrayGap > kArenaBytes) {
      // Far more than a launch may have, which it will be refused for.
      launch_->too_many_static_bytes = std::max(launch_->too_many_static_bytes, static_bytes);
      lock.unlock();
      stop_at_fault();
    }
    launch_->static_bytes = static_bytes;
    launch_->arena_end = made.offset + made.bytes;
    known = serial << 16 | launch_->arrays.size();
    launch_->arrays.push_back(std::move(made));
    slot.store(known, std::memory_order_release);
  }
  const std::size_t index = known & 0xFFFF;
  place_array(index);
  return reinterpret_cast<void*>(arena_ + launch_->arrays[index].offset);
}

void* Worker::dynamic_shared(const char* name, std::size_t element_bytes) {
  if (placed_[1].array == nullptr) {
    const std::lock_guard lock(launch_->layout_mutex);
    SharedArray& array = launch_->arrays[0];
    if (array.name.empty()) {
      array.name = name;
      array.element_bytes = std::max<std::size_t>(element_bytes, 1);
    }
    place_array(0);
  }
  return reinterpret_cast<void*>(arena_ + placed_[1].offset);
}

// Called with the layout's lock.
void Worker::place_array(std::size_t index) {
  const SharedArray& array = launch_->arrays[index];
  Placed& placed = placed_[index + 1];
  placed.array = &array;
  placed.offset = static_cast<std::uint32_t>(array.offset);
  placed.bytes = static_cast<std::uint32_t>(array.bytes);
  if (array.bytes == 0) return;
  placed.shadow.reset(array.bytes);
  placed.log_id = log_array(array.name, 0);
  std::fill(owner_.begin() + array.offset / kGranule,
            owner_.begin() + (array.offset + array.bytes - 1) / kGranule + 1,
            static_cast<std::uint8_t>(index + 1));
  std::memset(reinterpret_cast<void*>(arena_ + array.offset - 256), kPoison, array.bytes + 512);
}

void Worker::poison_shared() {
  for (const Placed& placed : placed_) {
    std::memset(reinterpret_cast<void*>(arena_ + placed.offset), kPoison, placed.bytes);
  }
}

std::uint64_t Worker::shared_offset(const void* p) const {
  return reinterpret_cast<std::uintptr_t>(p) - arena_;
}
void* Worker::shared_pointer(std::uint64_t offset) const {
  return reinterpret_cast<void*>(arena_ + (offset & 0xFFFFFFFF));
}
bool Worker::is_shared(const void* p) const {
  return reinterpret_cast<std::uintptr_t>(p) - arena_ < kArenaBytes;
}

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

// --- accesses -----------------------------------------------------------------------------------

void Worker::any_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc,
                        bool atomic) {
  if (budget_ == 0) refill();
  const std::uintptr_t offset = p - arena_;
  if (offset < kArenaBytes) {
    shared_access(offset, bytes, write, pc, atomic);
  } else {
    global_access(p, bytes, write, pc, atomic);
  }
}

void Worker::shared_access(std::size_t offset, unsigned bytes, bool write, std::uint32_t pc,
                           bool atomic) {
  Placed& placed = placed_[owner_[offset / kGranule]];
  const std::size_t inside = offset - placed.offset;
  if (inside + bytes > placed.bytes) return shared_bounds(offset, bytes, write, pc);
  if (watch_.count) log_access(inside, bytes, write, pc, true, placed.log_id);
  if (!watch_.check) return;
  const SharedArray& array = *placed.array;
  if (is_misaligned(offset, bytes)) {
    if (RawFinding* f = report(RawRule::kMisaligned, pc, 0, array.offset)) {
      f->array = array.name;
      f->element = shared_element(array, arena_ + offset);
      f->is_write = write;
      f->row_pitch = pitch_of(array);
      f->detail =
          fmt::format("{} bytes at an address that is {} mod {}", bytes, offset % bytes, bytes);
    }
    stop_at_fault();
  }
  placed.shadow.refine(inside, bytes);
  count_access();
  touch_cells(placed, inside, bytes, write, pc, atomic);
}

void Worker::touch_cells(const Placed& placed, std::size_t inside, unsigned bytes, bool write,
                         std::uint32_t pc, bool atomic) {
  const std::size_t step = std::size_t{1} << placed.shadow.shift();
  for (std::size_t at = inside & ~(step - 1); at < inside + bytes; at += step) {
    Cell& cell = placed.shadow.at(at);
    if (!atomic && is_quiet(cell, write)) {
      note(cell, write, pc);
    } else {
      touch_shared(placed, cell, arena_ + placed.offset + at, write, pc, atomic);
    }
  }
}

void Worker::touch_shared(const Placed& placed, Cell& cell, std::uintptr_t p, bool write,
                          std::uint32_t pc, bool atomic) {
  const SharedArray& array = *placed.array;
  if (cell.in_flight != 0) {
    const bool is_alone = is_without_group(cell.write.thread, p);
    RawFinding* f = report(RawRule::kCopyInFlight, pc, cell.write.pc, array.offset);
    if (f == nullptr && is_alone) {
      // A copy in no group says more than one that a wait has left out.
      RawFinding* known = recorder_.find(RawRule::kCopyInFlight, pc, cell.write.pc, array.offset);
      if (!known->is_without_group) f = known;
    }
    if (f != nullptr) {
      f->array = array.name;
      f->element = shared_element(array, p);
      f->thread = running_thread();
      f->phase = phase_;
      f->barrier_pc = barrier_pc_;
      for (const StepCount& step : steps_) {
        if (step.pc == barrier_pc_) f->step = step.times;
      }
      f->is_write = write;
      f->other_thread = thread_at(cell.write);
      f->has_other_thread = true;
      f->is_without_group = is_alone;
    }
    return;
  }
  const auto race = [&](RawRule rule, const Access& writer, const Access& other, bool waw) {
    report_race(rule, writer, other, waw, array.name, shared_element(array, p), array.offset,
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
  } else if (cell.write.epoch < block_first_epoch_ && pending_reads_.size() < kMostPendingReads) {
    pending_reads_.push_back({p, pc, running_});
  }
  note_reader(cell, pc);
}

// A word that someone writes later in the same interval was a race; one that nobody does is not
// initialised.
void Worker::finish_reads() {
  for (const PendingRead& read : pending_reads_) {
    const Placed& placed = placed_[owner_[(read.address - arena_) / kGranule]];
    const SharedArray& array = *placed.array;
    const Cell& cell = placed.shadow.at(read.address - arena_ - placed.offset);
    // Who writes it only after having read it has read nothing.
    const bool is_own = cell.write.thread == read.thread && cell.write.epoch == epoch_;
    if (cell.write.epoch >= block_first_epoch_ && !is_own) continue;
    running_ = read.thread;
    if (RawFinding* f = report(RawRule::kUninitialisedShared, read.pc, 0, array.offset)) {
      f->array = array.name;
      f->element = shared_element(array, read.address);
    }
  }
  pending_reads_.clear();
}

void Worker::shared_bounds(std::size_t offset, unsigned bytes, bool write, std::uint32_t pc) {
  if (!watch_.check) return;
  const SharedArray* closest = nullptr;
  std::size_t distance = ~std::size_t{0};
  bool is_past = false;
  for (const Placed& placed : placed_) {
    if (placed.array == nullptr) continue;
    const std::size_t begin = placed.offset, end = begin + placed.bytes;
    const bool past = offset + bytes > begin;
    const std::size_t d = past ? offset - std::min(offset, end) : begin - offset;
    if (d < distance) closest = placed.array, distance = d, is_past = past;
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

}  // namespace tessera::simt
