#include <algorithm>
#include <map>

#include "bench/arena.h"
#include "bench/gpu_handles.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

std::int64_t l2_bytes_here() {
  return cuda_devices().at(static_cast<std::size_t>(cuda::current_device())).l2_cache_bytes;
}

/// In rows, so that no pitch passes the 2 GiB that a pitched copy allows.
template <class Copy>
void in_pieces(std::size_t bytes, const Copy& copy) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes; at += kPiece) copy(at, std::min(kPiece, bytes - at));
}

class CudaArena final : public Arena {
 public:
  CudaArena(const Case& c, CacheState cache, const Settings& settings)
      : settings_(settings), one_(c, settings) {
    const SetBytes& bytes = one_.bytes();
    if (cache == CacheState::kCold) {
      constexpr std::int64_t kMost = 4096;  // nodes of one graph
      const auto free = static_cast<std::int64_t>(cuda::free_bytes());
      sets_ = sets_to_hold(bytes, cold_bytes(), kMost, free / 10 * 7);
    }
    slab_ = gpu::DeviceMemory(std::max<std::int64_t>(1, sets_ * bytes.total()));
    for (std::int64_t i = 0; i < sets_; ++i) {
      upload(place(i, 0), one_.a(), bytes.a);
      upload(place(i, bytes.a), one_.b(), bytes.b);
    }
  }

  void once(const RunProduct& run) override {
    run(set(0));
    cuda::synchronise(stream());
  }

  Timed timed(RunProduct run) override {
    if (!has_print_) inputs_print_ = inputs_print();
    has_print_ = true;
    const auto graphs = std::make_shared<std::map<int, std::unique_ptr<gpu::Graph>>>();
    Timed t;
    t.granule = static_cast<int>(sets_);
    t.run = [this, run] {
      run(set(0));
      cuda::synchronise(stream());
    };
    t.time_s = [this, run, graphs](int products) { return time_s(run, *graphs, products); };
    t.poison = [this] { poison(); };
    t.check_one = [this] { return check(1); };
    t.check_all = [this, run] {
      if (one_.what().beta != 0) {  // the loop went on from its own results
        poison();
        for (std::int64_t i = 0; i < sets_; ++i) run(set(i));
        cuda::synchronise(stream());
      }
      return check(sets_);
    };
    return t;
  }

  void* stream() const override { return stream_.get(); }
  std::int64_t sets() const override { return sets_; }
  std::int64_t bytes() const override { return sets_ * one_.bytes().total(); }
  std::int64_t cold_bytes() const override {
    return settings_.cold_bytes > 0 ? settings_.cold_bytes : 3 * l2_bytes_here();
  }
  std::string timer() const override { return timer_; }

  std::vector<gpu::Launch> launches(const RunProduct& run) override {
    try {
      return gpu::Graph(stream(), [&] { run(set(0)); }).launches();
    } catch (const Error&) {
      return {};
    }
  }

 private:
  char* place(std::int64_t set, std::int64_t offset) const {
    return slab_.as<char>() + set * one_.bytes().total() + offset;
  }
  Pointers set(std::int64_t i) const {
    const SetBytes& bytes = one_.bytes();
    return {place(i, 0), place(i, bytes.a), place(i, bytes.a + bytes.b)};
  }

  void upload(void* device, const void* host, std::int64_t bytes) {
    in_pieces(static_cast<std::size_t>(bytes), [&](std::size_t at, std::size_t size) {
      cuda::copy_to_device(static_cast<char*>(device) + at, size,
                           static_cast<const char*>(host) + at, size, size, 1, stream());
    });
    cuda::synchronise(stream());
  }

  void download(void* host, const void* device, std::int64_t bytes) {
    in_pieces(static_cast<std::size_t>(bytes), [&](std::size_t at, std::size_t size) {
      cuda::copy_to_host(static_cast<char*>(host) + at, size, static_cast<const char*>(device) + at,
                         size, size, 1, stream());
    });
    cuda::synchronise(stream());
  }

  /// Replays of one graph that holds as many products as a graph takes well; event timing where a
  /// contender cannot be captured.
  double time_s(const RunProduct& run, std::map<int, std::unique_ptr<gpu::Graph>>& graphs,
                int products) {
    const int most = std::max(512, static_cast<int>(sets_));
    const int replays = (products + most - 1) / most;
    // Every replay starts with the first set; a multiple of the sets keeps the rotation even.
    const int each = (products / replays + static_cast<int>(sets_) - 1) / static_cast<int>(sets_) *
                     static_cast<int>(sets_);
    const auto enqueue = [&](int count) {
      for (int i = 0; i < count; ++i) run(set(i % sets_));
    };
    auto [graph, is_new] = graphs.try_emplace(each);
    if (is_new) {
      try {
        graph->second = std::make_unique<gpu::Graph>(stream(), [&] { enqueue(each); });
      } catch (const Error&) {
        graph->second = nullptr;
      }
    }
    timer_ = graph->second ? "graph replay" : "events";
    if (graph->second && is_new) graph->second->launch(stream());  // its first launch uploads it
    cuda::synchronise(stream());
    cuda::record(begin_.get(), stream());
    for (int i = 0; i < replays; ++i) {
      if (graph->second) {
        graph->second->launch(stream());
      } else {
        enqueue(each);
      }
    }
    cuda::record(end_.get(), stream());
    cuda::synchronise_event(end_.get());
    const double all_s = static_cast<double>(cuda::elapsed_ms(begin_.get(), end_.get())) / 1e3;
    return all_s / (static_cast<double>(each) * replays) * products;
  }

  void poison() {
    for (std::int64_t i = 0; i < sets_; ++i) {
      if (one_.what().beta != 0) {
        upload(set(i).c, one_.c0(), one_.bytes().c);
      } else {
        // NaN in both types.
        gpu::fill(set(i).c, 0xFF, static_cast<std::size_t>(one_.bytes().c), stream());
      }
    }
    cuda::synchronise(stream());
  }

  std::uint64_t inputs_print() const {
    std::uint64_t print = 0;
    const SetBytes& bytes = one_.bytes();
    for (std::int64_t i = 0; i < sets_; ++i) {
      const auto size = static_cast<std::size_t>(bytes.a + bytes.b);
      print = print * 31 + gpu::fingerprint(place(i, 0), size, stream());
    }
    return print;
  }

  Check check(std::int64_t sets) {
    if (inputs_print() != inputs_print_) return {"A or B was changed", 0};
    const std::int64_t bytes = one_.bytes().c;
    const HostBuffer c("bench", bytes);
    download(c.data(), set(0).c, bytes);
    Check found = one_.check(c.data());
    const auto print = [&](std::int64_t i) {
      return gpu::fingerprint(set(i).c, static_cast<std::size_t>(bytes), stream());
    };
    const std::uint64_t first = print(0);
    for (std::int64_t i = 1; i < sets && found.fault.empty(); ++i) {
      if (print(i) == first) continue;
      download(c.data(), set(i).c, bytes);
      found = one_.check(c.data());
    }
    return found;
  }

  Settings settings_;
  HostOperands one_;
  gpu::Stream stream_;
  gpu::Event begin_, end_;
  std::int64_t sets_ = 1;
  gpu::DeviceMemory slab_;
  bool has_print_ = false;
  std::uint64_t inputs_print_ = 0;
  std::string timer_ = "events";
};

}  // namespace

std::unique_ptr<Arena> cuda_arena(const Case& c, CacheState cache, const Settings& settings) {
  return std::make_unique<CudaArena>(c, cache, settings);
}

}  // namespace tessera::bench
