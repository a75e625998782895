// Runs blocks of a kernel, one after another, each as fibers, and watches every access.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simt/model.h"
#include "simt/run/fiber.h"
#include "simt/run/memory.h"
#include "simt/run/recorder.h"
#include "simt/run/warp_log.h"
#define SIMT_EXECUTOR
#include "simt/words/simt_abi.h"

namespace tessera::simt {

/// A shared array as laid out in a block's arena.
struct SharedArray {
  std::string name;
  std::size_t offset = 0, bytes = 0, element_bytes = 1;
  std::size_t extents[4] = {};
  bool is_dynamic = false;
};

/// A pointer that a launch was given: names parts of allocations by the kernel's parameters.
struct NamedPointer {
  std::uintptr_t base = 0;
  std::string name;
  std::size_t element_bytes = 4;
  bool is_const = false;
};

/// What all blocks of a launch have in common.
struct LaunchState {
  const simt_launch* launch = nullptr;
  std::string name;  ///< of the kernel: "tiled<16>"
  int serial = 0;
  unsigned threads = 0;
  std::vector<NamedPointer> pointers;  // sorted by base
  std::mutex layout_mutex;
  /// The dynamic part first. Never moved: workers keep pointers to those that they have placed.
  std::deque<SharedArray> arrays;
  std::size_t static_bytes = 0;           // as the hardware would lay them out
  std::size_t too_many_static_bytes = 0;  // with an array that even the executor has no room for
  std::size_t arena_end = 0;
  std::atomic<unsigned> max_threads = 0;  // of __launch_bounds__
};

/// What is watched for.
struct Watch {
  bool check = true;   ///< races, bounds, initialisation
  bool count = false;  ///< requests, wavefronts, sectors
};

struct Limits {
  std::uint64_t thread_accesses = 200'000'000;  ///< of one thread, before it counts as endless
  double block_s = 20;                          ///< of one block
};

class Worker {
 public:
  Worker(int index, Memory& memory, std::uintptr_t image_low, WidthOf width_of);

  /// Called before the first block of a launch.
  void begin(LaunchState& launch, Watch watch, Limits limits);
  /// The launch's other blocks only have to be computed.
  void go_on_unwatched() { set_watch({false, false}); }
  /// False when the launch cannot go on (endless block).
  bool run_block(uint3 block);

  // --- called on fibers
  void access(std::uintptr_t p, unsigned bytes, bool write, void* pc,
              bool atomic = false);  // access.h
  void wait_barrier(void* pc);
  int barrier_count(int predicate, void* pc);
  void wait_warp(unsigned mask, void* pc, bool orders_memory);
  unsigned gather(unsigned mask, std::uint64_t value, std::uint64_t* all, void* pc);
  unsigned active_mask(void* pc);
  void* shared(simt_shared_array& array);
  void* dynamic_shared(const char* name, std::size_t element_bytes);
  std::uint64_t shared_offset(const void* p) const;
  void* shared_pointer(std::uint64_t offset) const;
  bool is_shared(const void* p) const;
  void copy_async(void* to, const void* from, unsigned bytes, unsigned source_bytes, void* pc);
  void copy_commit();
  void copy_wait(unsigned pending);
  /// An atomic at p orders this block behind those that published there.
  void acquire_release(std::uintptr_t p);
  void fence() { lane_->fenced = fenced_ = true; }
  void index_out_of_range(std::uint64_t index, const std::string& type, void* pc);
  [[noreturn]] void assertion_failed(const std::string& what, void* pc);
  /// Ends the running thread: what it does next would do harm.
  [[noreturn]] void stop_thread();
  /// From a signal's handler, when the running thread's own code was interrupted: the thread ends.
  [[noreturn]] void fault(std::uintptr_t instruction, const std::string& what);
  /// The same when the time is up: the block ends.
  [[noreturn]] void overdue(std::uintptr_t instruction, double limit_s);

  // --- results
  Recorder& recorder() { return recorder_; }
  WarpLog& log() { return log_; }
  /// Kernel and array of a logged access.
  const std::vector<std::pair<std::string, std::string>>& log_names() const { return log_names_; }
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t barriers() const { return barriers_; }
  unsigned lane() const { return running_ % 32; }
  bool launch_reads_its_writes() const { return reads_its_writes_; }
  /// An access that the hardware would have stopped the kernel at.
  bool has_faulted() const { return has_faulted_; }
  int index() const { return index_; }
  /// For a watchdog: where the running thread was seen last.
  std::uint32_t last_pc() const { return last_pc_; }
  Thread thread_of(unsigned index) const;
  Thread running_thread() const { return thread_of(running_); }
  RawFinding* report(RawRule rule, std::uint32_t pc, std::uint32_t other_pc, std::uint64_t array);
  std::uint32_t offset_of(const void* pc) const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_);
  }
  std::uint32_t launch_first_epoch() const { return launch_first_epoch_; }
  /// The block that an epoch of this worker belongs to.
  uint3 block_of(std::uint32_t epoch) const;
  std::string element_of(const Region& region, std::uintptr_t p, std::string* array) const;
  Thread thread_at(const Access& a) const;

  static constexpr std::size_t kArenaBytes = std::size_t{1} << 21;
  static constexpr std::size_t kGranule = 16;  // of the arena's owner table

 private:
  enum class State : std::uint8_t { kReady, kBarrier, kWarp, kDone };
  struct PendingCopy {
    std::uintptr_t to, from;
    unsigned bytes, source_bytes;
    std::uint32_t pc;
    unsigned waits;  // that its thread had made
  };
  struct Lane {
    Fiber fiber;
    uint3 index{};
    State state = State::kDone;
    bool fenced = false;
    bool was_preempted = false;
    bool orders_memory = false;
    bool asks_who_is_here = false;  // __activemask
    std::uint32_t sequence = 0;
    std::uint32_t warp_epoch = 0;
    std::uint32_t wait_pc = 0;
    unsigned mask = 0;
    std::uint64_t value = 0;
    std::uint64_t* gathered = nullptr;  // where a gather's values go; null: only a sync
    unsigned took_part = 0;
    std::uint64_t accesses = 0;
    std::vector<std::vector<PendingCopy>> copies;  // groups; the last is open
    unsigned waits = 0;                            // for groups
  };
  struct PendingRead {
    std::uintptr_t address;
    std::uint32_t pc;
    unsigned thread;
  };
  /// A shared array that this worker has met in the launch, with what an access needs of it.
  struct Placed {
    std::uint32_t offset = 0, bytes = 0;
    Shadow shadow;
    const SharedArray* array = nullptr;
    std::uint16_t log_id = 0;
  };
  struct StepCount {
    std::uint32_t pc;
    int times;
  };

  static void enter(void* worker) noexcept;
  [[gnu::noinline]] void any_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc,
                                    bool atomic);
  void shared_access(std::size_t offset, unsigned bytes, bool write, std::uint32_t pc, bool atomic);
  void global_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc, bool atomic);
  void touch_shared(const Placed& placed, Cell& cell, std::uintptr_t p, bool write,
                    std::uint32_t pc, bool atomic);
  void touch_cells(const Placed& placed, std::size_t inside, unsigned bytes, bool write,
                   std::uint32_t pc, bool atomic);
  bool is_quiet(const Cell& cell, bool write) const;
  void note(Cell& cell, bool write, std::uint32_t pc);
  void note_reader(Cell& cell, std::uint32_t pc);
  void touch_global(Region& region, Cell& cell, std::uintptr_t p, bool write, std::uint32_t pc,
                    bool atomic);
  /// Of two accesses in one interval: are they by one thread, or by lanes with a __syncwarp
  /// between?
  bool orders(const Access& a) const {
    if (a.thread == running_) return true;
    return a.thread / 32 == running_ / 32 && a.warp_epoch != warp_epoch_;
  }
  Access stamp(std::uint32_t pc) const { return {epoch_, pc, sequence_, running_, warp_epoch_}; }
  void count_access() { sequence_ += sequence_ != Access::kLastSequence; }
  void report_race(RawRule rule, const Access& writer, const Access& other, bool other_is_write,
                   const std::string& array, const std::string& element, std::uint64_t id,
                   std::int64_t row_pitch);
  void report_block_race(Region& region, std::uintptr_t p, const Access& before, bool was_write,
                         bool write, std::uint32_t pc);
  void shared_bounds(std::size_t offset, unsigned bytes, bool write, std::uint32_t pc);
  void outside(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc);
  void log_access(std::uintptr_t p, unsigned bytes, bool write, std::uint32_t pc, bool is_shared,
                  std::uint16_t array);
  std::uint16_t log_array(const std::string& name, std::uintptr_t base);
  const NamedPointer* named(const Region& region, std::uintptr_t p) const;
  std::string shared_element(const SharedArray& array, std::uintptr_t p) const;
  Shadow& shadow_of(Region& region);
  /// The allocation that holds all of an access; null when none does.
  Region* region_at(std::uintptr_t p, unsigned bytes, std::uint32_t pc, std::uint16_t* log_id);
  void note_store(const Region& region, std::uintptr_t p, std::uint32_t pc);
  static bool is_misaligned(std::uintptr_t p, unsigned bytes) {
    return (p & (bytes - 1)) != 0 && (bytes & (bytes - 1)) == 0;
  }
  /// The hardware ends the whole kernel here: this thread goes no further.
  [[noreturn]] void stop_at_fault() {
    has_faulted_ = true;
    stop_thread();
  }
  std::uint32_t interrupted(std::uintptr_t instruction) const;
  void place_array(std::size_t index);
  void poison_shared();
  void refill();
  std::uint32_t next_slice() const;
  void count_slice();
  bool is_overdue(std::uint32_t pc);
  void set_watch(Watch watch);
  void finish_copy(const PendingCopy& copy);
  bool is_without_group(unsigned thread, std::uintptr_t p) const;
  void forget_copies();
  void suspend(State state, void* pc);

  void run_lane(unsigned i);
  bool run_warp(unsigned first);  // true when a lane moved
  bool release_warp_waits(unsigned first);
  bool end_interval();  // false when nothing moves any more
  void flush_log(unsigned first);
  void finish_reads();
  void report_divergence();
  void report_stuck();
  bool acquired(std::uint32_t epoch) const;

  const int index_;
  Memory& memory_;
  const std::uintptr_t image_low_;
  Stacks stacks_;
  std::uintptr_t arena_ = 0;
  std::vector<Lane> lanes_;
  std::array<WarpLog::Lane, 32> logs_;
  Recorder recorder_;
  WarpLog log_;
  std::vector<std::pair<std::string, std::string>> log_names_;

  // of the launch
  LaunchState* launch_ = nullptr;
  Watch watch_;
  bool only_checks_ = false;  // the usual case of watch_
  Limits limits_;
  std::vector<std::uint8_t> owner_;  // of each granule of the arena: an index of placed_
  std::vector<Placed> placed_;       // by the array's index + 1; the first is none
  std::map<std::uintptr_t, std::uint16_t> global_log_ids_;  // by the named pointer's base
  std::uint32_t launch_first_epoch_ = 1;
  std::vector<std::pair<std::uint32_t, uint3>> blocks_;  // first epoch, index
  bool reads_its_writes_ = false;
  bool has_faulted_ = false;

  // of the block
  uint3 block_{};
  std::uint32_t block_first_epoch_ = 1;
  std::uint32_t epoch_ = 1;
  int phase_ = 0;
  std::uint32_t barrier_pc_ = 0;
  std::vector<StepCount> steps_;
  std::vector<PendingRead> pending_reads_;
  int barrier_sum_ = 0;
  bool fenced_ = false;
  std::vector<std::uint32_t> acquired_;                            // first epochs of blocks
  std::map<std::uintptr_t, std::vector<std::uint32_t>> releases_;  // of the launch

  // of the running thread
  unsigned running_ = 0;
  Lane* lane_ = nullptr;
  std::uintptr_t stack_low_ = 0;
  WarpLog::Lane* log_lane_ = nullptr;
  std::uint32_t sequence_ = 0, warp_epoch_ = 0;  // the lane's own, while it runs
  std::uint32_t budget_ = 0, slice_ = 0;         // accesses left of the slice
  std::uint32_t last_pc_ = 0;
  struct CachedRegion {
    Region* region = nullptr;
    std::uint32_t pc = 0;
    std::uint16_t log_id = 0;
  };
  std::array<CachedRegion, 64> region_cache_{};   // by instruction
  std::array<std::uint32_t, 256> stores_seen_{};  // instructions whose target was looked at
  std::uint64_t accesses_ = 0, barriers_ = 0;
  bool block_is_endless_ = false;
  unsigned rounds_ = 0;        // of barriers and warp waits, to look at the clock now and then
  std::exception_ptr thrown_;  // by a fiber; nothing may unwind through the checked program
  double block_deadline_s_ = 0;
};

/// The worker whose fiber runs on this thread, as the hooks see it: null on the host side of the
/// program and in blocks that run unwatched.
extern constinit thread_local Worker* watching;
/// The same, also in unwatched blocks.
extern constinit thread_local Worker* working;

double now_s();

}  // namespace tessera::simt
