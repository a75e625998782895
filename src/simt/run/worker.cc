// A worker's blocks: fibers, barriers, warps.
#include "simt/run/worker.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "tessera/error.h"

extern "C" {
// What a checked program sees as its built-in variables.
__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread simt_dim3 simt_block_dim;
__thread simt_dim3 simt_grid_dim;
}

namespace tessera::simt {

constinit thread_local Worker* watching = nullptr;
constinit thread_local Worker* working = nullptr;

namespace {

constexpr int kMaxThreads = 1024;
constexpr unsigned kRounds = 4096;         // of waits between two looks at the clock
constexpr std::uint32_t kSlice = 1 << 18;  // accesses before another fiber gets its turn
constexpr std::size_t kPlaces = 256;       // as many as an owner's byte can tell

}  // namespace

double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Worker::Worker(int index, Memory& memory, std::uintptr_t image_low, WidthOf width_of)
    : index_(index), memory_(memory), image_low_(image_low), stacks_(kMaxThreads) {
  void* p = mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    throw Error(ErrorCode::kOutOfMemory, "check: no memory for a block's shared memory");
  }
  arena_ = reinterpret_cast<std::uintptr_t>(p);
  owner_.resize(kArenaBytes / kGranule);
  placed_.resize(kPlaces);
  lanes_.resize(kMaxThreads);
  log_.set_widths(std::move(width_of));
}

void Worker::begin(LaunchState& launch, Watch watch, Limits limits) {
  launch_ = &launch;
  set_watch(watch);
  limits_ = limits;
  std::fill(owner_.begin(), owner_.end(), std::uint8_t{0});
  for (Placed& placed : placed_) placed = Placed();
  global_log_ids_.clear();
  region_cache_.fill({});
  stores_seen_.fill(0);
  releases_.clear();
  blocks_.clear();
  reads_its_writes_ = false;
  has_faulted_ = false;
  ++epoch_;
  launch_first_epoch_ = epoch_;
  for (unsigned i = 0; i < launch.threads; ++i) {
    const simt_dim3 d = launch.launch->block;
    lanes_[i].index = {i % d.x, i / d.x % d.y, i / (d.x * d.y)};
  }
  // The launch's sizes, as blockDim and gridDim give them.
  simt_block_dim = launch.launch->block;
  simt_grid_dim = launch.launch->grid;
}

void Worker::set_watch(Watch watch) {
  watch_ = watch;
  only_checks_ = watch.check && !watch.count;
}

// --- threads ------------------------------------------------------------------------------------

Thread Worker::thread_of(unsigned index) const {
  const simt_dim3 d = launch_->launch->block;
  return {{block_.x, block_.y, block_.z}, {index % d.x, index / d.x % d.y, index / (d.x * d.y)}};
}

Thread Worker::thread_at(const Access& a) const {
  Thread t = thread_of(a.thread);
  const uint3 b = block_of(a.epoch);
  t.block = {b.x, b.y, b.z};
  return t;
}

uint3 Worker::block_of(std::uint32_t epoch) const {
  const auto it =
      std::upper_bound(blocks_.begin(), blocks_.end(), epoch,
                       [](std::uint32_t e, const auto& block) { return e < block.first; });
  return it == blocks_.begin() ? block_ : std::prev(it)->second;
}

void Worker::enter(void* self) noexcept {
  Worker& w = *static_cast<Worker*>(self);
  try {
    w.launch_->launch->body(w.launch_->launch->context);
  } catch (...) {
    w.thrown_ = std::current_exception();
  }
  w.lane_->state = State::kDone;
}

void Worker::stop_thread() {
  lane_->state = State::kDone;
  for (;;) lane_->fiber.yield();
}

void Worker::suspend(State state, void* pc) {
  lane_->state = state;
  lane_->wait_pc = offset_of(pc);
  lane_->fiber.yield();
}

// A thread is looked at again after a slice of accesses, or when it has made one too many.
std::uint32_t Worker::next_slice() const {
  const std::uint64_t left = limits_.thread_accesses + 1 - lane_->accesses;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(kSlice, left));
}

void Worker::count_slice() {
  accesses_ += slice_ - budget_;
  lane_->accesses += slice_ - budget_;
  slice_ = budget_;
}

void Worker::refill() {
  count_slice();
  if (lane_->accesses > limits_.thread_accesses) {
    block_is_endless_ = true;
    if (RawFinding* f = report(RawRule::kTimeLimit, last_pc_, 0, 0)) {
      f->detail =
          fmt::format("has made {} accesses to memory without an end in sight", lane_->accesses);
    }
  }
  if (block_is_endless_ || is_overdue(last_pc_)) stop_thread();
  slice_ = budget_ = next_slice();
  lane_->was_preempted = true;
  lane_->fiber.yield();  // still ready: a thread that spins lets the others move
}

bool Worker::is_overdue(std::uint32_t pc) {
  if (now_s() <= block_deadline_s_) return false;
  block_is_endless_ = true;
  if (RawFinding* f = report(RawRule::kTimeLimit, pc, 0, 0)) {
    f->detail = fmt::format("has not come to its end within {:g} s", limits_.block_s);
  }
  return true;
}

void Worker::run_lane(unsigned i) {
  running_ = i;
  lane_ = &lanes_[i];
  stack_low_ = stacks_.low(static_cast<int>(i));
  log_lane_ = &logs_[i % 32];
  slice_ = budget_ = next_slice();
  sequence_ = lane_->sequence;
  warp_epoch_ = lane_->warp_epoch;
  lane_->was_preempted = false;
  threadIdx = lane_->index;
  working = this;
  watching = watch_.check || watch_.count ? this : nullptr;
  lane_->fiber.resume();
  watching = nullptr;
  working = nullptr;
  lane_->sequence = sequence_;
  count_slice();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

bool Worker::run_warp(unsigned first) {
  const unsigned end = std::min(first + 32, launch_->threads);
  bool moved = false;
  for (;;) {
    bool ran = false, preempted = false;
    for (unsigned i = first; i < end && !block_is_endless_; ++i) {
      if (lanes_[i].state != State::kReady) continue;
      run_lane(i);
      preempted |= lanes_[i].was_preempted;
      ran = moved = true;
    }
    if (ran && watch_.count) flush_log(first);
    // A thread that spins may wait for one of another warp.
    if (preempted || block_is_endless_) return true;
    if (++rounds_ % kRounds == 0 && is_overdue(lanes_[first].wait_pc)) return true;
    if (!release_warp_waits(first)) return moved;
  }
}

void Worker::flush_log(unsigned first) {
  log_.analyse(logs_, static_cast<int>(std::min(32U, launch_->threads - first)));
}

bool Worker::release_warp_waits(unsigned first) {
  const unsigned end = std::min(first + 32, launch_->threads);
  const unsigned existing = end - first == 32 ? ~0U : (1U << (end - first)) - 1;
  bool released = false;
  for (unsigned i = first; i < end; ++i) {
    if (lanes_[i].state != State::kWarp || lanes_[i].asks_who_is_here) continue;
    const unsigned mask = (lanes_[i].mask | 1U << (i - first)) & existing;
    unsigned here = 0, gone = 0;
    for (unsigned j = first; j < end; ++j) {
      const unsigned bit = 1U << (j - first);
      if ((mask & bit) == 0) continue;
      if (lanes_[j].state == State::kDone) gone |= bit;
      if (lanes_[j].state == State::kWarp && lanes_[j].mask == lanes_[i].mask) here |= bit;
    }
    if ((here | gone) != mask) continue;
    if (gone != 0) {
      running_ = i;
      if (RawFinding* f = report(RawRule::kEarlyReturn, lanes_[i].wait_pc, 0, 1)) {
        f->detail = fmt::format("its mask {:#010x} names lanes that have returned ({:#010x})",
                                lanes_[i].mask, gone);
      }
    }
    for (unsigned j = first; j < end; ++j) {
      if ((here >> (j - first) & 1) == 0) continue;
      Lane& lane = lanes_[j];
      lane.took_part = here;
      if (lane.gathered != nullptr) {
        for (unsigned k = 0; k < end - first; ++k) lane.gathered[k] = lanes_[first + k].value;
      }
    }
    for (unsigned j = first; j < end; ++j) {
      if ((here >> (j - first) & 1) == 0) continue;
      if (lanes_[j].orders_memory) ++lanes_[j].warp_epoch;
      lanes_[j].state = State::kReady;
    }
    released = true;
  }
  for (unsigned i = first; i < end && !released; ++i) {
    if (lanes_[i].state != State::kWarp || !lanes_[i].asks_who_is_here) continue;
    unsigned here = 0;
    for (unsigned j = first; j < end; ++j) {
      const Lane& lane = lanes_[j];
      if (lane.state == State::kWarp && lane.asks_who_is_here &&
          lane.wait_pc == lanes_[i].wait_pc) {
        here |= 1U << (j - first);
      }
    }
    for (unsigned j = first; j < end; ++j) {
      if ((here >> (j - first) & 1) == 0) continue;
      lanes_[j].took_part = here;
      lanes_[j].state = State::kReady;
    }
    released = true;
  }
  return released;
}

void Worker::wait_barrier(void* pc) {
  lane_->value = 0;
  suspend(State::kBarrier, pc);
}

int Worker::barrier_count(int predicate, void* pc) {
  lane_->value = predicate != 0;
  suspend(State::kBarrier, pc);
  return barrier_sum_;
}

void Worker::wait_warp(unsigned mask, void* pc, bool orders_memory) {
  lane_->mask = mask;
  lane_->gathered = nullptr;
  lane_->orders_memory = orders_memory;
  suspend(State::kWarp, pc);
}

unsigned Worker::gather(unsigned mask, std::uint64_t value, std::uint64_t* all, void* pc) {
  lane_->mask = mask;
  lane_->value = value;
  lane_->gathered = all;
  lane_->orders_memory = false;
  suspend(State::kWarp, pc);
  return lane_->took_part;
}

// The lanes that are at this call when none of the warp can go on otherwise.
unsigned Worker::active_mask(void* pc) {
  lane_->mask = 0;
  lane_->gathered = nullptr;
  lane_->orders_memory = false;
  lane_->asks_who_is_here = true;
  suspend(State::kWarp, pc);
  lane_->asks_who_is_here = false;
  return lane_->took_part;
}

void Worker::report_divergence() {
  const Lane* first = nullptr;
  unsigned first_index = 0, waiting = 0, gone = 0;
  for (unsigned i = 0; i < launch_->threads; ++i) {
    if (lanes_[i].state == State::kDone) ++gone;
    if (lanes_[i].state != State::kBarrier) continue;
    ++waiting;
    if (first == nullptr) {
      first = &lanes_[i], first_index = i;
    } else if (lanes_[i].wait_pc != first->wait_pc) {
      running_ = first_index;
      if (RawFinding* f =
              report(RawRule::kBarrierDivergence, first->wait_pc, lanes_[i].wait_pc, 0)) {
        f->other_thread = thread_of(i);
        f->has_other_thread = true;
      }
    }
  }
  if (gone == 0) return;
  unsigned returned = 0;
  while (lanes_[returned].state != State::kDone) ++returned;
  running_ = first_index;
  if (RawFinding* f = report(RawRule::kEarlyReturn, first->wait_pc, 0, 0)) {
    f->detail = fmt::format("{} of the block's {} threads wait, {} have returned", waiting,
                            launch_->threads, gone);
    f->other_thread = thread_of(returned);
    f->has_other_thread = true;
  }
}

// Some lanes wait for lanes that wait for something else.
void Worker::report_stuck() {
  for (unsigned i = 0; i < launch_->threads; ++i) {
    Lane& lane = lanes_[i];
    if (lane.state != State::kWarp) continue;
    running_ = i;
    unsigned missing = i;
    for (unsigned j = i / 32 * 32; j < std::min(i / 32 * 32 + 32, launch_->threads); ++j) {
      const bool named = (lane.mask >> j % 32 & 1) != 0;
      if (named && !(lanes_[j].state == State::kWarp && lanes_[j].mask == lane.mask)) missing = j;
    }
    if (RawFinding* f = report(RawRule::kDeadlock, lane.wait_pc, lanes_[missing].wait_pc, 0)) {
      f->detail =
          fmt::format("lane {} of its mask {:#010x} waits elsewhere", missing % 32, lane.mask);
      f->other_thread = thread_of(missing);
      f->has_other_thread = true;
    }
    lane.took_part = 1U << i % 32;
    if (lane.gathered != nullptr) lane.gathered[i % 32] = lane.value;
    lane.state = State::kReady;
  }
}

bool Worker::end_interval() {
  if (has_faulted_) return false;  // the hardware has ended the kernel
  bool at_barrier = false, stuck = false;
  unsigned waiting = 0;
  std::uint32_t pc = 0;
  barrier_sum_ = 0;
  for (unsigned i = 0; i < launch_->threads; ++i) {
    stuck |= lanes_[i].state == State::kWarp;
    if (lanes_[i].state != State::kBarrier) continue;
    at_barrier = true;
    pc = lanes_[i].wait_pc;
    barrier_sum_ += static_cast<int>(lanes_[i].value);
    ++waiting;
  }
  if (stuck) {
    report_stuck();
    return true;
  }
  if (watch_.check) finish_reads();
  if (!at_barrier) return false;
  if (watch_.check) report_divergence();
  if (++rounds_ % kRounds == 0 && is_overdue(pc)) return false;
  ++epoch_;
  ++phase_;
  ++barriers_;
  barrier_pc_ = pc;
  auto step =
      std::find_if(steps_.begin(), steps_.end(), [&](const StepCount& s) { return s.pc == pc; });
  if (step == steps_.end()) step = steps_.insert(step, {pc, 0});
  ++step->times;
  for (unsigned i = 0; i < launch_->threads; ++i) {
    Lane& lane = lanes_[i];
    lane.sequence = 0;
    lane.warp_epoch = 0;
    if (lane.state == State::kBarrier) lane.state = State::kReady;
  }
  return true;
}

bool Worker::run_block(uint3 block) {
  block_ = block;
  ::blockIdx = block;
  simt_block_dim = launch_->launch->block;
  simt_grid_dim = launch_->launch->grid;
  ++epoch_;
  block_first_epoch_ = epoch_;
  blocks_.emplace_back(epoch_, block);
  phase_ = 0;
  barrier_pc_ = 0;
  steps_.clear();
  fenced_ = false;
  acquired_.clear();
  pending_reads_.clear();
  block_is_endless_ = false;
  block_deadline_s_ = now_s() + limits_.block_s;
  poison_shared();
  for (unsigned i = 0; i < launch_->threads; ++i) {
    Lane& lane = lanes_[i];
    lane.fiber.start(stacks_.low(static_cast<int>(i)), &Worker::enter, this);
    lane.state = State::kReady;
    lane.fenced = false;
    lane.sequence = lane.warp_epoch = 0;
    lane.accesses = 0;
    lane.copies.clear();
    lane.waits = 0;
  }
  for (;;) {
    bool ready = true;
    while (ready && !block_is_endless_) {
      for (unsigned first = 0; first < launch_->threads; first += 32) run_warp(first);
      ready = std::any_of(lanes_.begin(), lanes_.begin() + launch_->threads,
                          [](const Lane& lane) { return lane.state == State::kReady; });
    }
    if (block_is_endless_ || !end_interval()) break;
  }
  forget_copies();
  return !block_is_endless_;
}

}  // namespace tessera::simt
