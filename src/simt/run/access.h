// What happens at each access of a thread, as far as nearly all accesses go: inlined into the hooks
// that the checked program calls.
#pragma once

#include "simt/run/worker.h"

namespace tessera::simt {

/// The first touch of a word in its interval, or one more reader: neither can be a race.
inline bool Worker::touches_quietly(Cell& cell, bool write, std::uint32_t pc) {
  if (cell.in_flight != 0 || cell.write.epoch == epoch_) return false;
  if (write) {
    if (cell.read[0].epoch == epoch_ || cell.read[1].epoch == epoch_) return false;
    cell.write = stamp(pc);
    cell.write_is_atomic = 0;
    return true;
  }
  if (cell.write.epoch < block_first_epoch_) return false;
  note_reader(cell, pc);
  return true;
}

inline void Worker::note_reader(Cell& cell, std::uint32_t pc) {
  if (cell.read[0].epoch != epoch_) {
    cell.read[0] = stamp(pc);
    cell.read[1].epoch = 0;
  } else if (cell.read[0].thread != now_.thread) {
    cell.read[1] = stamp(pc);
  } else if (cell.read[0].warp_epoch != now_.warp_epoch) {
    cell.read[0] = stamp(pc);
  }
}

[[gnu::always_inline]] inline void Worker::access(std::uintptr_t p, unsigned bytes, bool write,
                                                  void* pc_address, bool atomic) {
  if (p - stack_low_ < Stacks::kBytes) return;  // the thread's own
  const std::uint32_t pc = offset_of(pc_address);
  last_pc_ = pc;
  if (--budget_ == 0) refill();
  const std::uintptr_t offset = p - arena_;
  if (offset >= kArenaBytes) return global_access(p, bytes, write, pc, atomic);
  const Placed& array = placed_[owner_[offset / kGranule]];
  const std::size_t inside = offset - array.offset;
  const bool is_word = bytes == 4 && !atomic && offset % 4 == 0 && inside + 4 <= array.bytes &&
                       array.shadow.shift() == 2;
  if (!is_word || !only_checks_) return shared_access(offset, bytes, write, pc, atomic);
  count_access();
  Cell& cell = array.shadow.at(inside);
  if (!touches_quietly(cell, write, pc)) touch_shared(array, cell, p, write, pc, false);
}

}  // namespace tessera::simt
