// A device that lives in host memory and does nothing before it must.
//
// Copies and products are queued per stream. They run when the host waits for them, or earlier when
// the schedule says so, in any order that stream order and event waits allow. So a walk that lacks
// a wait computes with panels that have not arrived, or that were overwritten, and its result is
// wrong under at least one schedule.
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "panel/device_walk.h"

namespace tessera::panel {

enum class Schedule {
  kLazy,          ///< only what the host waits for, and what that waits for
  kCopyFirst,     ///< the first stream as soon as possible, the second as late as possible
  kComputeFirst,  ///< the other way round
  kRandom,        ///< a random number of steps of random streams at each call
};

/// Synchronisation that the device forgets, to prove that it is missed.
struct Forget {
  bool stream_waits = false;  ///< wait does nothing
  bool event_syncs = false;   ///< synchronise_event returns at once
};

class FakeDevice final : public PanelDevice {
 public:
  FakeDevice(Schedule schedule, unsigned seed = 0, Forget forget = {})
      : schedule_(schedule), forget_(forget), random_(seed) {}

  std::int64_t memory_bytes = INT64_C(1) << 40;
  std::int64_t live_objects = 0;
  std::int64_t device_bytes = 0, peak_device_bytes = 0;

  Space space() const override { return Space::kHost; }
  std::int64_t free_bytes() override { return memory_bytes; }
  void* allocate(std::size_t bytes) override {
    device_bytes += static_cast<std::int64_t>(bytes);
    peak_device_bytes = std::max(peak_device_bytes, device_bytes);
    void* p = poisoned(bytes);
    sizes_[p] = bytes;
    return p;
  }
  void release(void* p) noexcept override {
    device_bytes -= static_cast<std::int64_t>(sizes_[p]);
    free_poisoned(p);
  }
  void* allocate_pinned(std::size_t bytes) override { return poisoned(bytes); }
  void release_pinned(void* p) noexcept override { free_poisoned(p); }

  void* create_stream() override {
    ++live_objects;
    streams_.push_back(std::make_unique<Stream>());
    return streams_.back().get();
  }
  void destroy_stream(void*) noexcept override { --live_objects; }
  void synchronise(void* stream) override {
    Stream& s = *static_cast<Stream*>(stream);
    while (!s.queue.empty()) advance(s);
  }

  void* create_event() override {
    ++live_objects;
    events_.push_back(std::make_unique<Event>());
    return events_.back().get();
  }
  void destroy_event(void*) noexcept override { --live_objects; }
  void record(void* event, void* stream) override {
    Event* const e = static_cast<Event*>(event);
    const int version = ++e->recorded;
    e->stream = static_cast<Stream*>(stream);
    enqueue(stream, {[e, version] { e->reached = std::max(e->reached, version); }, nullptr, 0});
  }
  void wait(void* stream, void* event) override {
    Event* const e = static_cast<Event*>(event);
    if (!forget_.stream_waits) enqueue(stream, {[] {}, e, e->recorded});
  }
  void synchronise_event(void* event) override {
    Event& e = *static_cast<Event*>(event);
    if (!forget_.event_syncs) reach(e, e.recorded);
    play();
  }
  float elapsed_ms(void* start, void* stop) override {
    for (void* event : {start, stop}) {
      const Event& e = *static_cast<Event*>(event);
      if (!forget_.event_syncs && e.reached < e.recorded)
        throw std::logic_error("event not reached");
    }
    return 1;
  }

  void copy_to_device(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                      std::size_t width, std::size_t rows, void* stream) override {
    copy(dst, dst_pitch, src, src_pitch, width, rows, stream);
  }
  void copy_to_host(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                    std::size_t width, std::size_t rows, void* stream) override {
    copy(dst, dst_pitch, src, src_pitch, width, rows, stream);
  }
  void product(const Plan& plan, double alpha, const void* a, const void* b, double beta, void* c,
               void* workspace, std::size_t workspace_bytes, void* stream) override {
    enqueue(stream,
            {[=] { plan.run(alpha, a, b, beta, c, workspace, workspace_bytes); }, nullptr, 0});
  }

 private:
  struct Stream;
  struct Event {
    int recorded = 0, reached = 0;
    Stream* stream = nullptr;
  };
  struct Work {
    std::function<void()> run;
    Event* after = nullptr;  // not before this event has reached `version`
    int version = 0;
  };
  struct Stream {
    std::deque<Work> queue;
  };

  void* poisoned(std::size_t bytes) {
    ++live_objects;
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    void* p = std::aligned_alloc(256, rounded);
    std::memset(p, 0xff, rounded);  // NaN in every type
    return p;
  }
  void free_poisoned(void* p) noexcept {
    --live_objects;
    std::free(p);
  }
  void copy(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
            std::size_t width, std::size_t rows, void* stream) {
    enqueue(stream, {[=] {
                       for (std::size_t r = 0; r < rows; ++r) {
                         std::memcpy(static_cast<char*>(dst) + r * dst_pitch,
                                     static_cast<const char*>(src) + r * src_pitch, width);
                       }
                     },
                     nullptr, 0});
  }

  void enqueue(void* stream, Work work) {
    static_cast<Stream*>(stream)->queue.push_back(std::move(work));
    play();
  }
  static bool blocked(const Stream& s) {
    return !s.queue.empty() && s.queue.front().after != nullptr &&
           s.queue.front().after->reached < s.queue.front().version;
  }
  /// Runs the first work of a stream, and what it waits for.
  void advance(Stream& s) {
    Work work = std::move(s.queue.front());
    s.queue.pop_front();
    if (work.after != nullptr) reach(*work.after, work.version);
    work.run();
  }
  void reach(Event& e, int version) {
    while (e.reached < version) {
      if (e.stream == nullptr || e.stream->queue.empty()) throw std::logic_error("deadlock");
      advance(*e.stream);
    }
  }
  void run_while_free(Stream& s) {
    while (!s.queue.empty() && !blocked(s)) advance(s);
  }
  void play() {
    if (streams_.empty()) return;
    switch (schedule_) {
      case Schedule::kLazy:
        return;
      case Schedule::kCopyFirst:
        return run_while_free(*streams_.front());
      case Schedule::kComputeFirst:
        return run_while_free(*streams_.back());
      case Schedule::kRandom:
        break;
    }
    for (unsigned steps = random_() % 4; steps > 0; --steps) {
      Stream& s = *streams_[random_() % streams_.size()];
      if (!s.queue.empty() && !blocked(s)) advance(s);
    }
  }

  Schedule schedule_;
  Forget forget_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Event>> events_;
  std::map<void*, std::size_t> sizes_;
};

}  // namespace tessera::panel
