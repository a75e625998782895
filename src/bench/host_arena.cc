#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "bench/arena.h"
#include "tessera/kernel.h"

namespace tessera::bench {
namespace {

using Clock = std::chrono::steady_clock;

class HostArena final : public Arena {
 public:
  HostArena(const Case& c, CacheState cache, const Settings& settings)
      : settings_(settings), one_(c, settings) {
    const SetBytes& bytes = one_.bytes();
    if (cache == CacheState::kCold) {
      constexpr std::int64_t kMost = 1 << 20;
      sets_ = sets_to_hold(bytes, cold_bytes(), kMost, cpu_device().memory_bytes / 4);
    }
    slab_ = HostBuffer("bench", sets_ * bytes.total());
    for (std::int64_t i = 0; i < sets_; ++i) {
      std::memcpy(place(i, 0), one_.a(), static_cast<std::size_t>(bytes.a));
      std::memcpy(place(i, bytes.a), one_.b(), static_cast<std::size_t>(bytes.b));
    }
  }

  void once(const RunProduct& run) override { run(set(0)); }

  Timed timed(RunProduct run) override {
    if (!has_print_) inputs_print_ = inputs_print();
    has_print_ = true;
    Timed t;
    t.granule = static_cast<int>(sets_);
    t.run = [this, run] { run(set(0)); };
    t.time_s = [this, run, last_s = std::make_shared<double>(0)](int products) {
      constexpr double kLong = 10e-3;
      // Wakes the threads of whoever computes; not counted. A long product need not care. On the
      // last set, because the first one timed must not find its operands in the caches.
      if (*last_s < kLong * products) run(set(sets_ - 1));
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < products; ++i) run(set(i % sets_));
      *last_s = std::chrono::duration<double>(Clock::now() - start).count();
      return *last_s;
    };
    t.poison = [this] { poison(); };
    t.check_one = [this] { return check(1); };
    t.check_all = [this, run] {
      if (one_.what().beta != 0) {  // the loop went on from its own results
        poison();
        for (std::int64_t i = 0; i < sets_; ++i) run(set(i));
      }
      return check(sets_);
    };
    return t;
  }

  std::int64_t sets() const override { return sets_; }
  std::int64_t bytes() const override { return sets_ * one_.bytes().total(); }
  std::int64_t cold_bytes() const override {
    if (settings_.cold_bytes > 0) return settings_.cold_bytes;
    const DeviceInfo& cpu = cpu_device();
    return 2 * std::max(cpu.l3_bytes, cpu.l2_bytes * cpu.cores);
  }
  std::string timer() const override { return "steady clock"; }
  std::vector<gpu::Launch> launches(const RunProduct&) override { return {}; }

 private:
  char* place(std::int64_t set, std::int64_t offset) const {
    return static_cast<char*>(slab_.data()) + set * one_.bytes().total() + offset;
  }
  Pointers set(std::int64_t i) const {
    const SetBytes& bytes = one_.bytes();
    return {place(i, 0), place(i, bytes.a), place(i, bytes.a + bytes.b)};
  }

  void poison() {
    for (std::int64_t i = 0; i < sets_; ++i) {
      const auto size = static_cast<std::size_t>(one_.bytes().c);
      if (one_.what().beta != 0) {
        std::memcpy(set(i).c, one_.c0(), size);
      } else {
        std::memset(set(i).c, 0xFF, size);  // NaN in both types
      }
    }
  }

  std::size_t inputs_print() const {
    std::size_t print = 0;
    const SetBytes& bytes = one_.bytes();
    for (std::int64_t i = 0; i < sets_; ++i) {
      print = print * 31 + fingerprint(place(i, 0), static_cast<std::size_t>(bytes.a + bytes.b));
    }
    return print;
  }

  Check check(std::int64_t sets) const {
    if (inputs_print() != inputs_print_) return {"A or B was changed", 0};
    const auto size = static_cast<std::size_t>(one_.bytes().c);
    Check found = one_.check(set(0).c);
    for (std::int64_t i = 1; i < sets && found.fault.empty(); ++i) {
      if (std::memcmp(set(i).c, set(0).c, size) != 0) found = one_.check(set(i).c);
    }
    return found;
  }

  Settings settings_;
  HostOperands one_;
  std::int64_t sets_ = 1;
  HostBuffer slab_;
  bool has_print_ = false;
  std::size_t inputs_print_ = 0;
};

}  // namespace

std::unique_ptr<Arena> host_arena(const Case& c, CacheState cache, const Settings& settings) {
  return std::make_unique<HostArena>(c, cache, settings);
}

}  // namespace tessera::bench
