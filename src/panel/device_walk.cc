// Two streams. `copy` brings panels of A and B to the device; `compute` runs products, and moves
// tiles of C in and out between them, so that their order on C's one buffer needs no event.
//
//   panel copied  --loaded-->  compute: a product waits for both its panels
//   product done  --read---->  copy: a slot is overwritten only after the last product that read it
//
// The host runs ahead by one product: it enqueues product s, then fills the panels of product s+1
// while the device works. docs/panels.md has the drawing.
#include "panel/device_walk.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/threads.h"
#include "panel/device_resources.h"
#include "panel/staging.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

using std::int64_t;

// Large enough that a copy runs at full rate; small enough to page-lock quickly.
constexpr int64_t kStagingBytes = 16 << 20;
// Left to the driver and to other programs.
constexpr double kShareOfFreeMemory = 0.9;
// A pass over C in device memory costs this part of the same bytes over the bus.
constexpr double kDevicePassCost = 1.0 / 32;

PanelRequest describe(const PanelJob& job, int64_t budget) {
  PanelRequest r;
  r.m = job.m;
  r.n = job.n;
  r.k = job.k;
  r.element_bytes = job.element_bytes();
  r.trans_a = job.a.trans;
  r.trans_b = job.b.trans;
  r.hold_a = r.hold_b = r.hold_c = true;
  r.double_buffered = true;
  const auto element = static_cast<double>(r.element_bytes);
  r.load_a_bytes = r.load_b_bytes = element;
  r.store_c_bytes = job.beta != 0 ? 2 * element : element;
  r.repeat_c_bytes = 2 * element * kDevicePassCost;
  r.budget_bytes = budget;
  return r;
}

/// Where panels of a shape lie; every slot starts at a multiple of 256 bytes.
struct DeviceLayout {
  Placement a, b, c;
};
DeviceLayout layout_of(const PanelJob& job, const PanelShape& s) {
  const int64_t size = job.element_bytes();
  return {{padded_ld(job.a.trans ? s.m : s.k, size), 256},
          {padded_ld(job.b.trans ? s.k : s.n, size), 256},
          {padded_ld(s.n, size), 256}};
}

struct DevicePlan {
  PanelShape shape;
  int64_t buffer_bytes = 0;
  int64_t workspace_bytes = 0;
  std::string kernel;
  Explanation explanation;
};

/// The kernel of the largest panel serves the others too, as far as it can take them.
DevicePlan with_kernel(const PanelJob& job, Space space, const PanelRequest& request,
                       const PanelShape& shape) {
  DevicePlan out;
  out.shape = shape;
  out.buffer_bytes = bytes_held(request, shape);
  const DeviceLayout at = layout_of(job, shape);
  for (const PanelStep& step : distinct_steps(job, shape)) {
    const Plan plan = plan_step(job, space, step, at.a, at.b, at.c, out.kernel);
    if (out.kernel.empty()) {
      out.kernel = plan.kernel();
      out.explanation = plan.explain();
    }
    out.workspace_bytes =
        std::max(out.workspace_bytes, static_cast<int64_t>(plan.workspace_bytes()));
  }
  return out;
}

DevicePlan plan_device(const PanelJob& job, PanelDevice& device) {
  const auto available =
      static_cast<int64_t>(kShareOfFreeMemory * static_cast<double>(device.free_bytes()));
  const int64_t asked = job.options->memory_bytes;
  const int64_t budget = asked > 0 ? std::min(asked, available) : available;
  if (job.forced) return with_kernel(job, device.space(), describe(job, budget), *job.forced);
  DevicePlan plan;
  // The workspace depends on the shape and the shape on what the workspace leaves.
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PanelRequest request = describe(job, budget - plan.workspace_bytes);
    if (request.budget_bytes < bytes_held(request, smallest_shape(request))) break;
    plan = with_kernel(job, device.space(), request, plan_panels(request).shape);
    if (plan.buffer_bytes + plan.workspace_bytes <= budget) return plan;
  }
  const PanelRequest request = describe(job, budget);
  plan = with_kernel(job, device.space(), request, smallest_shape(request));
  if (plan.buffer_bytes + plan.workspace_bytes <= budget) return plan;
  throw Error(ErrorCode::kOutOfMemory,
              "panel_gemm: a budget of " + std::to_string(budget) +
                  " bytes of device memory is too small; the smallest that works is " +
                  std::to_string(plan.buffer_bytes + plan.workspace_bytes) + " bytes");
}

/// One device buffer for panels of A or B.
struct Slot {
  DeviceMemory memory;
  Block held;
  DeviceEvent loaded;     // on copy: the panel has arrived
  DeviceEvent read;       // on compute: the last product that read it is done
  bool was_read = false;  // `read` has been recorded
  int64_t last_product = -1;
};

/// The slots of one operand.
class PanelSlots {
 public:
  PanelSlots(PanelDevice& device, const PanelOperand& operand, int64_t bytes, bool two, int64_t ld)
      : operand_(operand), ld_(ld), count_(two ? 2 : 1) {
    for (std::size_t i = 0; i < count_; ++i) {
      slots_[i].memory = device_memory(device, bytes);
      slots_[i].loaded = device_event(device);
      slots_[i].read = device_event(device);
    }
  }

  /// The slot that holds `block`; loads it over the one unused longest when none does.
  template <class T>
  Slot& acquire(PanelDevice& device, Staging<T>& staging, const Block& block, void* copy) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (slots_[i].held == block) return slots_[i];
    }
    Slot& slot =
        count_ == 2 && slots_[1].last_product < slots_[0].last_product ? slots_[1] : slots_[0];
    slot.held = Block{};
    if (slot.was_read) device.wait(copy, slot.read.get());
    staging.upload(operand_.file, block, static_cast<T*>(slot.memory.get()), ld_, copy);
    device.record(slot.loaded.get(), copy);
    slot.held = block;
    return slot;
  }

 private:
  const PanelOperand& operand_;
  int64_t ld_;
  std::size_t count_;
  std::array<Slot, 2> slots_;
};

/// Start and stop of the last two products.
struct Timer {
  DeviceEvent start, stop;
  std::optional<PanelStep> step;  // running
};

template <class T>
class DeviceWalk {
 public:
  DeviceWalk(const PanelJob& job, PanelDevice& device, const DevicePlan& plan)
      : job_(job),
        device_(device),
        plan_(plan),
        layout_(layout_of(job, plan.shape)),
        meter_(job),
        copy_(device_stream(device)),
        compute_(device_stream(device)),
        a_(device, job.a, panel_bytes(job.a.trans ? plan.shape.k : plan.shape.m, layout_.a),
           plan.shape.m < job.m || plan.shape.k < job.k, layout_.a.ld),
        b_(device, job.b, panel_bytes(job.b.trans ? plan.shape.n : plan.shape.k, layout_.b),
           plan.shape.n < job.n || plan.shape.k < job.k, layout_.b.ld),
        c_(device_memory(device, panel_bytes(plan.shape.m, layout_.c))),
        workspace_(device_memory(device, plan.workspace_bytes)),
        staging_(device, staging_bytes(), transfer()),
        drain_copy_(device, copy_.get()),
        drain_compute_(device, compute_.get()) {
    for (Timer& timer : timers_) {
      timer.start = device_event(device);
      timer.stop = device_event(device);
    }
  }

  PanelReport run() {
    for_each_step(job_, plan_.shape, [&](const PanelStep& step) { run_step(step); });
    store_tile();
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      finish(timers_[static_cast<std::size_t>(report_.panels + static_cast<int64_t>(i)) %
                     timers_.size()]);
    }
    report_.elapsed_s = meter_.elapsed_s();
    return report_;
  }

 private:
  static int64_t panel_bytes(int64_t rows, Placement at) {
    return rows * at.ld * static_cast<int64_t>(sizeof(T));
  }
  int64_t staging_bytes() const {
    const PanelShape& s = plan_.shape;
    const int64_t largest = std::max({s.m * s.k, s.k * s.n, s.m * s.n});
    return std::min(kStagingBytes, largest * static_cast<int64_t>(sizeof(T)));
  }
  Transfer transfer() {
    Transfer out;
    out.threads = resolve_threads(job_.options->gemm.threads);
    out.tick = [this] { meter_.tick(); };
    return out;
  }

  void run_step(const PanelStep& step) {
    Slot& a = a_.acquire(device_, staging_, a_block(job_, step), copy_.get());
    Slot& b = b_.acquire(device_, staging_, b_block(job_, step), copy_.get());
    T* const c = static_cast<T*>(c_.get());
    if (step.first_k) {
      store_tile();
      const Block tile{step.i, step.j, step.m, step.n};
      if (job_.beta != 0) staging_.upload(*job_.c0, tile, c, layout_.c.ld, compute_.get());
    }
    device_.wait(compute_.get(), a.loaded.get());
    device_.wait(compute_.get(), b.loaded.get());
    multiply(step, a, b, c);
    for (Slot* slot : {&a, &b}) {
      device_.record(slot->read.get(), compute_.get());
      slot->was_read = true;
      slot->last_product = report_.panels;
    }
    if (step.last_k) complete_ = Block{step.i, step.j, step.m, step.n};
    ++report_.panels;
  }

  void multiply(const PanelStep& step, const Slot& a, const Slot& b, T* c) {
    Timer& timer = timers_[static_cast<std::size_t>(report_.panels) % timers_.size()];
    finish(timer);
    const Plan plan =
        plan_step(job_, device_.space(), step, layout_.a, layout_.b, layout_.c, plan_.kernel);
    device_.record(timer.start.get(), compute_.get());
    device_.product(plan, job_.alpha, a.memory.get(), b.memory.get(),
                    step.first_k ? job_.beta : 1.0, c, workspace_.get(),
                    static_cast<std::size_t>(plan_.workspace_bytes), compute_.get());
    device_.record(timer.stop.get(), compute_.get());
    timer.step = step;
  }

  /// Waits for a product: what is counted as done is done, and the host stays two ahead at most.
  void finish(Timer& timer) {
    if (!timer.step) return;
    device_.synchronise_event(timer.stop.get());
    report_.kernel_s += 1e-3 * device_.elapsed_ms(timer.start.get(), timer.stop.get());
    const PanelStep step = *timer.step;
    timer.step.reset();
    meter_.finished(step);
  }

  /// Stores the tile whose last product has been enqueued.
  void store_tile() {
    if (!complete_) return;
    staging_.download(static_cast<const T*>(c_.get()), layout_.c.ld, *job_.out, *complete_,
                      compute_.get());
    complete_.reset();
  }

  const PanelJob& job_;
  PanelDevice& device_;
  const DevicePlan& plan_;
  DeviceLayout layout_;
  ProgressMeter meter_;
  PanelReport report_;
  DeviceStream copy_, compute_;
  PanelSlots a_, b_;
  DeviceMemory c_, workspace_;
  Staging<T> staging_;
  std::array<Timer, 2> timers_;
  std::optional<Block> complete_;  // a tile in c_ that is not stored yet
  // Last, so that they go first: no work may outlive the memory it uses.
  StreamDrain drain_copy_, drain_compute_;
};

}  // namespace

PanelReport walk_device(const PanelJob& job, PanelDevice& device) {
  const DevicePlan plan = plan_device(job, device);
  PanelReport report = job.options->compute == DType::kF32
                           ? DeviceWalk<float>(job, device, plan).run()
                           : DeviceWalk<double>(job, device, plan).run();
  report.kernel = plan.kernel;
  report.explanation = plan.explanation;
  report.panel_m = plan.shape.m;
  report.panel_n = plan.shape.n;
  report.panel_k = plan.shape.k;
  report.buffer_bytes = plan.buffer_bytes + plan.workspace_bytes;
  return report;
}

}  // namespace tessera::panel
