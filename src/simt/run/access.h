// What happens at each access of a thread, as far as nearly all accesses go: inlined into the hooks
// that the checked program calls.
#pragma once

#include "simt/run/worker.h"

namespace tessera::simt {

/// The first touch of a word in its interval, or one more reader: neither can be a race.
inline bool Worker::is_quiet(const Cell& cell, bool write) const {
  if (cell.in_flight != 0 || cell.write.epoch == epoch_) return false;
  if (write) return cell.read[0].epoch != epoch_ && cell.read[1].epoch != epoch_;
  return cell.write.epoch >= block_first_epoch_;
}

inline void Worker::note(Cell& cell, bool write, std::uint32_t pc) {
  if (!write) return note_reader(cell, pc);
  cell.write = stamp(pc);
  cell.write_is_atomic = 0;
}

inline void Worker::note_reader(Cell& cell, std::uint32_t pc) {
  if (cell.read[0].epoch != epoch_) {
    cell.read[0] = stamp(pc);
    cell.read[1].epoch = 0;
  } else if (cell.read[0].thread != running_) {
    cell.read[1] = stamp(pc);
  } else if (cell.read[0].warp_epoch != warp_epoch_) {
    cell.read[0] = stamp(pc);
  }
}

// Nothing but the last line calls anything, so that the hooks need no frame.
[[gnu::always_inline]] inline void Worker::access(std::uintptr_t p, unsigned bytes, bool write,
                                                  void* pc_address, bool atomic) {
  if (p - stack_low_ < Stacks::kBytes) return;  // the thread's own
  const std::uint32_t pc = offset_of(pc_address);
  last_pc_ = pc;
  const std::uintptr_t offset = p - arena_;
  if (--budget_ != 0 && bytes == 4 && !atomic && offset < kArenaBytes && only_checks_) {
    const Placed& array = placed_[owner_[offset / kGranule]];
    const std::size_t inside = offset - array.offset;
    if (offset % 4 == 0 && inside + 4 <= array.bytes && array.shadow.shift() == 2) {
      Cell& cell = array.shadow.at(inside);
      if (is_quiet(cell, write)) {
        count_access();
        return note(cell, write, pc);
      }
    }
  }
  any_access(p, bytes, write, pc, atomic);
}

}  // namespace tessera::simt
