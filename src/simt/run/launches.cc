// Launches: may they run, which of their blocks do, and what comes of them.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "simt/run/session.h"
#include "simt/run/signals.h"

namespace tessera::simt {
namespace {

constexpr int kSuccess = 0;

constexpr int kMostLooksAgain = 32;
constexpr std::uint64_t kLeastShare = 16;  // of the accesses to check, for each launch

std::uint64_t volume(const simt_dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }
std::array<unsigned, 3> triple(const simt_dim3& d) { return {d.x, d.y, d.z}; }

/// Blocks to run when not all are: the corners and edges first, which guards are about, then spread
/// over the rest.
std::vector<std::uint64_t> sample(const simt_dim3& grid, std::uint64_t count) {
  const std::uint64_t total = volume(grid);
  std::vector<std::uint64_t> chosen;
  const auto add = [&](unsigned x, unsigned y, unsigned z) {
    chosen.push_back((std::uint64_t{z} * grid.y + y) * grid.x + x);
  };
  for (unsigned z : {0U, grid.z - 1}) {
    for (unsigned y : {0U, grid.y / 2, grid.y - 1}) {
      for (unsigned x : {0U, grid.x / 2, grid.x - 1}) add(x, y, z);
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    chosen.push_back(static_cast<std::uint64_t>(
        static_cast<double>(i) / static_cast<double>(count) * static_cast<double>(total)));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

/// Adds the time that it lives.
class AddTime {
 public:
  explicit AddTime(double& sum_s) : sum_s_(sum_s) {}
  ~AddTime() { sum_s_ += now_s() - start_s_; }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  double& sum_s_;
  const double start_s_ = now_s();
};

uint3 block_index(const simt_dim3& grid, std::uint64_t i) {
  return {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
          static_cast<unsigned>(i / (std::uint64_t{grid.x} * grid.y))};
}

}  // namespace

void Session::run_blocks(LaunchState& state, const simt_launch& launch, Launch& record,
                         bool watched) {
  const std::uint64_t total = volume(launch.grid);
  const Watch watch = watched ? options_.watch : Watch{false, false};
  const auto sum_of = [&](std::uint64_t (Worker::*count)() const) {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += (worker.get()->*count)();
    return sum;
  };
  const std::uint64_t before = sum_of(&Worker::accesses),
                      barriers_before = sum_of(&Worker::barriers);
  for (auto& worker : workers_) worker->begin(state, watch, options_.limits);

  // The first block tells what a block costs.
  Worker& first = *workers_[0];
  if (!first.run_block({0, 0, 0})) {
    record.blocks_run = record.blocks_checked = 1;
    record.accesses = sum_of(&Worker::accesses) - before;
    out_of_time_ = true;
    return;
  }
  record.blocks_run = 1;
  record.blocks_checked = watched ? 1 : 0;
  if (state.max_threads != 0 && state.threads > state.max_threads) return;
  if (!watched) {
    std::vector<bool> ran(total);
    ran[0] = true;
    run_rest(launch, ran, record);
    return;
  }
  const std::uint64_t of_one = std::max<std::uint64_t>(sum_of(&Worker::accesses) - before, 1);
  // The first launches must not use up what later kernels are to be checked with.
  const std::uint64_t left = std::max(
      options_.max_accesses / kLeastShare,
      options_.max_accesses > watched_accesses_ ? options_.max_accesses - watched_accesses_ : 0);
  std::vector<std::uint64_t> blocks;
  const bool all = total <= left / of_one + 1;
  if (all) {
    blocks.resize(total - 1);
    for (std::uint64_t i = 1; i < total; ++i) blocks[i - 1] = i;
  } else {
    blocks = sample(launch.grid, left / of_one);
    blocks.erase(std::remove(blocks.begin(), blocks.end(), 0), blocks.end());
  }

  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  std::exception_ptr thrown;
  std::mutex thrown_mutex;
  const auto run_part = [&](std::size_t w) {
    const std::size_t begin = blocks.size() * w / workers_.size();
    const std::size_t end = blocks.size() * (w + 1) / workers_.size();
    for (std::size_t i = begin; i < end && !stop && !is_late(); ++i) {
      ++done;
      if (!workers_[w]->run_block(block_index(launch.grid, blocks[i]))) stop = true;
    }
  };
  const auto part = [&](std::size_t w) {
    try {
      run_part(w);
    } catch (...) {
      stop = true;
      const std::lock_guard lock(thrown_mutex);
      thrown = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t w = 1; w < workers_.size(); ++w) {
    threads.emplace_back([&part, w] {
      const BlockThread here;
      part(w);
    });
  }
  part(0);
  for (std::thread& t : threads) t.join();
  if (thrown) std::rethrow_exception(thrown);
  record.blocks_run += done;
  record.blocks_checked = record.blocks_run;
  out_of_time_ |= stop;
  record.accesses = sum_of(&Worker::accesses) - before;
  record.barriers = sum_of(&Worker::barriers) - barriers_before;
  watched_accesses_ += of_one * record.blocks_checked;
  if (stop || record.blocks_checked == total) return;
  sampled_ = true;
  notes_.insert(fmt::format(
      "{}: {} of {} blocks were checked ({}); {} raises that", state.name, record.blocks_checked,
      total, all ? "then the time was up" : "the corners, and others spread over the grid",
      is_late() ? "--time-limit" : "--max-accesses"));
  if (options_.has_drive) return;
  // A program goes on with the results of all blocks.
  std::vector<bool> ran(total);
  ran[0] = true;
  if (!is_late()) {
    for (std::uint64_t i : blocks) ran[i] = true;
  }
  first.go_on_unwatched();
  run_rest(launch, ran, record);
}

// A problem that is too large for the time is no fault: what is left of it stays undone, and no
// result is judged any more.
void Session::run_rest(const simt_launch& launch, const std::vector<bool>& ran, Launch& record) {
  for (std::uint64_t i = 0; i < ran.size(); ++i) {
    if (ran[i]) continue;
    if (is_late()) {
      give_up(launch);
      return;
    }
    workers_[0]->run_block(block_index(launch.grid, i));
  }
  record.blocks_run = ran.size();
}

bool Session::is_late() const { return now_s() - started_s_ > options_.time_limit_s; }

void Session::give_up(const simt_launch& launch) {
  out_of_time_ = true;
  notes_.insert(
      fmt::format("{} did not run to its end: the time limit of {:g} s was reached, so the "
                  "program's results are incomplete; make its problem smaller, or raise "
                  "--time-limit",
                  name_of(launch), options_.time_limit_s));
}

// Blocks that different workers ran: did one write what another touched?
void Session::merge_blocks() {
  if (workers_.size() == 1) return;
  for (auto& [low, region] : memory_.regions()) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      Shadow& mine = region->shadows[w];
      if (!mine) continue;
      for (std::size_t v = 0; v < workers_.size(); ++v) {
        Shadow& other = region->shadows[v];
        if (v == w || !other) continue;
        const std::size_t step = std::size_t{1} << std::min(mine.shift(), other.shift());
        for (std::size_t at = 0; at < region->bytes(); at += step) {
          const Cell& c = mine.at(at);
          if (c.write.epoch < workers_[w]->launch_first_epoch()) continue;
          const Cell& d = other.at(at);
          const std::uint32_t begin = workers_[v]->launch_first_epoch();
          const bool written = d.write.epoch >= begin &&
                               !(c.write_is_atomic != 0 && d.write_is_atomic != 0) && v > w;
          const bool read = d.read[0].epoch >= begin;
          if (!written && !read) continue;
          const Access& a = written ? d.write : d.read[0];
          RawFinding* f = workers_[0]->recorder().first(RawRule::kBlockRace, c.write.pc, a.pc, low);
          if (f == nullptr) continue;
          f->element = workers_[0]->element_of(*region, low + at, &f->array);
          f->thread = workers_[w]->thread_at(c.write);
          f->other_thread = workers_[v]->thread_at(a);
          f->has_other_thread = true;
          f->is_write = true;
          f->detail = written ? "written" : "read";
        }
      }
    }
  }
}

void Session::collect(const LaunchState& state, const std::string& kernel) {
  std::vector<RawFinding> found;
  for (auto& worker : workers_) {
    for (RawFinding& raw : worker->recorder().take()) found.push_back(std::move(raw));
  }
  // Races within warps alone are the work of code that counts on lanes running in step; beside
  // races between warps they are part of the same missing barrier.
  const bool crosses_warps = std::any_of(found.begin(), found.end(), [](const RawFinding& f) {
    return f.rule == RawRule::kSharedReadWrite && !f.same_warp;
  });
  for (const RawFinding& raw : found) add(finding_of(raw, kernel, crosses_warps));
  for (const SharedArray& array : state.arrays) {
    std::size_t pitch = array.element_bytes;
    for (int dim = 1; dim < 4 && array.extents[dim] != 0; ++dim) pitch *= array.extents[dim];
    if (array.extents[1] != 0) {
      shared_pitch_[{kernel, array.name}] = static_cast<std::int64_t>(pitch);
    }
  }
}

void Session::prepare(const simt_launch& launch, LaunchState& state) {
  state.launch = &launch;
  state.name = name_of(launch);
  state.serial = ++serial_;
  state.threads = static_cast<unsigned>(volume(launch.block));
  constexpr std::size_t kFirst = 4096;
  state.arrays.push_back({"", kFirst, launch.dynamic_shared_bytes, 4, {}, true});
  state.arena_end = kFirst + launch.dynamic_shared_bytes;
  for (auto& [low, region] : memory_.regions()) region->shadows.resize(workers_.size());
}

void Session::run_quietly(const simt_launch& launch) {
  LaunchState state;
  prepare(launch, state);
  Worker& worker = *workers_[0];
  worker.begin(state, {false, false}, options_.limits);
  for (std::uint64_t i = 0; i < volume(launch.grid); ++i) {
    worker.run_block(block_index(launch.grid, i));
  }
}

// A launch like an earlier one, but the host has written or freed memory since: indices that the
// kernel reads may be others, and its pointers may lead nowhere.
bool Session::is_worth_another_look(const Done& earlier, const std::string& kernel) {
  if (!options_.watch.check || earlier.host_version == memory_.host_version()) return false;
  if (looks_again_ < kMostLooksAgain && watched_accesses_ < options_.max_accesses / 4) {
    ++looks_again_;
    return true;
  }
  notes_.insert(
      fmt::format("{}: not every launch with the same arguments and other data in memory "
                  "was checked; --max-accesses raises that",
                  kernel));
  return false;
}

int Session::launch(const simt_launch& launch) {
  if (pretend_launch(launch)) return kSuccess;
  const AddTime timed(launches_s_);
  int error = kSuccess;
  if (working != nullptr) unsupported("a launch inside a kernel");
  if (std::this_thread::get_id() != thread_) unsupported("launches by several threads of the host");
  if (!check_configuration(launch, error)) {
    was_refused_ = true;
    return error;
  }
  if (!out_of_time_ && is_late()) give_up(launch);
  if (out_of_time_) return kSuccess;
  if (quiet_) {
    run_quietly(launch);
    return kSuccess;
  }
  const std::string key = key_of(launch);
  const auto done = done_.find(key);
  if (done != done_.end()) {
    Launch& earlier = result_.launches[done->second.index];
    ++earlier.repeats;
    if (done->second.can_skip && done->second.version == memory_.version()) return kSuccess;
  }

  LaunchState state;
  prepare(launch, state);
  name_pointers(launch, state);
  state_ = &state;
  for (const NamedPointer& p : state.pointers) {
    Region* region = memory_.find(p.base);
    if (region == nullptr || p.is_const || !options_.watch.check) continue;
    for (std::size_t i = 0; i < region->bytes(); ++i) region->flags[i] &= ~kWrittenNow;
  }

  Launch record;
  record.kernel = state.name;
  record.place = place_of(launch);
  record.grid = triple(launch.grid);
  record.block = triple(launch.block);
  record.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  record.blocks_total = volume(launch.grid);
  const bool is_new = done == done_.end();
  const bool watched = is_new || is_worth_another_look(done->second, state.name);
  const double start = now_s();
  run_blocks(state, launch, record, watched);
  record.elapsed_s = now_s() - start;
  state.static_bytes = std::max(state.static_bytes, state.too_many_static_bytes);
  record.static_shared_bytes = state.static_bytes;
  memory_.changed_by_launch();

  if (!check_resources(launch, state, error)) {
    state_ = nullptr;
    was_refused_ = true;
    return error;
  }
  if (watched) {
    merge_blocks();
    collect(state, state.name);
    const bool complete = record.blocks_run == record.blocks_total;
    if (options_.watch.check && complete && !options_.has_drive) {
      judge_launch(launch, state, record);
    }
    for (auto& worker : workers_) was_refused_ |= worker->has_faulted();
    // A count does not know this, and need not: the accesses of a repeat are those of the first.
    // Only a host that sees the kernel's memory without a copy could wait for what it does.
    // The host may change such memory between launches, unseen.
    bool reads_its_writes = uses_managed_;
    for (auto& worker : workers_) reads_its_writes |= worker->launch_reads_its_writes();
    if (is_new) result_.launches.push_back(record);
    const std::size_t index = is_new ? result_.launches.size() - 1 : done->second.index;
    done_[key] = {memory_.version(), memory_.host_version(), index, !reads_its_writes};
  } else {
    done->second.version = memory_.version();
  }
  state_ = nullptr;
  return kSuccess;
}

}  // namespace tessera::simt
