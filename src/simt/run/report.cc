// What a worker notes of an access: the first finding of a kind, and the log of requests.
#include <fmt/format.h>

#include <algorithm>

#include "simt/run/worker.h"

namespace tessera::simt {

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

void Worker::assertion_failed(const std::string& what, void* pc) {
  if (RawFinding* f = report(RawRule::kCrash, offset_of(pc), 0, 0)) {
    f->detail = fmt::format("fails the assertion '{}'", what);
  }
  stop_at_fault();
}

void Worker::index_out_of_range(std::uint64_t index, const std::string& type, void* pc) {
  if (RawFinding* f = report(RawRule::kIndexBounds, offset_of(pc), 0, 0)) {
    f->detail = fmt::format("index {} of {}", static_cast<std::int32_t>(index), type);
  }
}

// --- ends of threads ----------------------------------------------------------------------------

void Worker::fault(std::uintptr_t instruction, const std::string& what) {
  if (RawFinding* f = report(RawRule::kCrash, interrupted(instruction), 0, 0)) f->detail = what;
  stop_at_fault();
}

void Worker::overdue(std::uintptr_t instruction, double limit_s) {
  block_is_endless_ = true;
  if (RawFinding* f = report(RawRule::kTimeLimit, interrupted(instruction), 0, 0)) {
    f->detail = fmt::format("has not come to its end within {:g} s", limit_s);
  }
  stop_thread();
}

// Where a signal met the thread: in the program's own code, or in what it called.
std::uint32_t Worker::interrupted(std::uintptr_t instruction) const {
  const bool is_own = instruction - memory_.image_low < memory_.image_high - memory_.image_low;
  return is_own ? static_cast<std::uint32_t>(instruction - image_low_) : last_pc_;
}

// --- the log of requests ------------------------------------------------------------------------

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

}  // namespace tessera::simt
