// Panels on the CPU.
//
// What is resident. Without a budget, or when everything fits in it, operands already of the type
// multiplied are used where they are mapped, and C of that type is computed in its mapping:
// then nothing is held but the kernel's workspace. What must be converted goes panel by panel
// through buffers of at most kConversionBytes together, and its pages are dropped as it is read.
// Under a budget everything goes through buffers, and pages of inputs and output are dropped a
// window at a time, so that resident are the buffers, one window and the workspace.
//
// Bits. One kernel serves every panel. When A and B are used in place K is never split, and an
// element of C is then summed in the order of the unsplit product: row and column blocks change
// which elements share a call, not how one is summed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/canonical.h"
#include "core/host_buffer.h"
#include "core/threads.h"
#include "panel/panel_io.h"
#include "panel/panel_job.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

using std::int64_t;

constexpr int64_t kConversionBytes = 32 << 20;
// The promise is 64 MiB beside A, B and C. This is for buffers and workspace; what is left is a
// window and the process itself. Many threads leave less than kConversionBytes.
constexpr int64_t kBesideFilesBytes = 52 << 20;
constexpr int64_t kLeastConversionBytes = 4 << 20;
// Of one product. After each, progress is shown and an interrupt is heard: often enough even on a
// slow core, seldom enough that packing again for the next one costs little.
constexpr double kMaxMultiplyAdds = 12.5e9;
constexpr int64_t kSmallestBudgetBytes = 4 << 20;
constexpr int64_t kSmallestWindowBytes = 512 << 10;
constexpr int64_t kLargestWindowBytes = 4 << 20;
// Beside buffers and a window: faults of several threads beyond the window's ends, the allocator.
constexpr int64_t kReserveBytes = 1 << 20;

/// How a job is walked.
struct CpuPlan {
  PanelRequest request;
  PanelShape shape;
  int64_t buffer_bytes = 0;
  int64_t window_bytes = kLargestWindowBytes;
  bool bounded = false;  ///< pages of the output are dropped too
};

Placement a_placement(const PanelJob& job, const PanelRequest& r, const PanelShape& s) {
  if (!r.hold_a) return {job.a.file.ld(), static_cast<int>(r.input_bytes)};
  return {padded_ld(job.a.trans ? s.m : s.k, r.input_bytes), 256};
}
Placement b_placement(const PanelJob& job, const PanelRequest& r, const PanelShape& s) {
  if (!r.hold_b) return {job.b.file.ld(), static_cast<int>(r.input_bytes)};
  return {padded_ld(job.b.trans ? s.k : s.n, r.input_bytes), 256};
}
Placement c_placement(const PanelJob& job, const PanelRequest& r, const PanelShape& s) {
  if (!r.hold_c) return {job.n, static_cast<int>(r.element_bytes)};
  return {padded_ld(s.n, r.element_bytes), 256};
}

Plan plan_for(const PanelJob& job, const PanelRequest& r, const PanelShape& s,
              const PanelStep& step, const std::string& kernel) {
  return plan_step(job, Space::kHost, step, a_placement(job, r, s), b_placement(job, r, s),
                   c_placement(job, r, s), kernel);
}

int64_t workspace_bytes(const PanelJob& job, const PanelRequest& r, const PanelShape& s,
                        const std::string& kernel) {
  std::size_t bytes = 0;
  for (const PanelStep& step : distinct_steps(job, s)) {
    bytes = std::max(bytes, plan_for(job, r, s, step, kernel).workspace_bytes());
  }
  return static_cast<int64_t>(bytes);
}

PanelRequest describe(const PanelJob& job, bool in_place) {
  const DType compute = job.options->compute, input = job.input();
  const auto size = [](DType dtype) { return static_cast<double>(size_of(dtype)); };
  PanelRequest r;
  r.m = job.m;
  r.n = job.n;
  r.k = job.k;
  r.element_bytes = job.element_bytes();
  r.input_bytes = job.input_bytes();
  r.trans_a = job.a.trans;
  r.trans_b = job.b.trans;
  r.hold_a = !(in_place && job.a.file.usable_as(input));
  r.hold_b = !(in_place && job.b.file.usable_as(input));
  r.hold_c = !(in_place && job.out->dtype() == compute);
  // A buffer is written once for each element read from the file.
  r.load_a_bytes = size(input) + (r.hold_a ? size(job.a.file.dtype) : 0);
  r.load_b_bytes = size(input) + (r.hold_b ? size(job.b.file.dtype) : 0);
  r.store_c_bytes = size(compute) + (r.hold_c ? size(job.out->dtype()) : 0);
  r.repeat_c_bytes = 2 * size(compute);
  r.max_multiply_adds = kMaxMultiplyAdds;
  r.whole_k = !r.hold_a && !r.hold_b;
  return r;
}

/// The smallest budget in which the smallest panels run.
int64_t smallest_budget(const PanelJob& job, const PanelRequest& r, const std::string& kernel) {
  const PanelShape shape = smallest_shape(r);
  return std::max(kSmallestBudgetBytes, bytes_held(r, shape) + kSmallestWindowBytes +
                                            kReserveBytes + workspace_bytes(job, r, shape, kernel));
}

/// Panels for a budget that does not hold everything. Each thread needs workspace of its own, more
/// for larger panels: all threads are tried first, then fewer, each time with less for panels.
CpuPlan plan_bounded(PanelJob& job, const std::string& kernel) {
  const int64_t budget = job.options->memory_bytes;
  CpuPlan plan;
  plan.bounded = true;
  plan.request = describe(job, false);
  const int most_threads = resolve_threads(job.threads);
  job.threads = 1;
  const int64_t smallest = smallest_budget(job, plan.request, kernel);
  if (budget < smallest) {
    throw Error(ErrorCode::kOutOfMemory,
                fmt::format("panel_gemm: a memory budget of {} bytes is too small for m={} n={} "
                            "k={}; the smallest that works is {} bytes",
                            budget, job.m, job.n, job.k, smallest));
  }
  plan.window_bytes = std::clamp(budget / 8, kSmallestWindowBytes, kLargestWindowBytes);
  const PanelShape floor = smallest_shape(plan.request);
  const int64_t available = budget - kReserveBytes - plan.window_bytes;
  for (job.threads = most_threads; job.threads >= 1; job.threads /= 2) {
    for (const int64_t quarters : {3, 2, 1}) {
      plan.request.budget_bytes = available / 4 * quarters;
      if (plan.request.budget_bytes < bytes_held(plan.request, floor)) break;
      plan.shape = plan_panels(plan.request).shape;
      plan.buffer_bytes = bytes_held(plan.request, plan.shape);
      const int64_t workspace = workspace_bytes(job, plan.request, plan.shape, kernel);
      if (plan.buffer_bytes + workspace <= available) return plan;
    }
  }
  job.threads = 1;
  plan.window_bytes = kSmallestWindowBytes;
  plan.shape = floor;
  plan.buffer_bytes = bytes_held(plan.request, floor);
  return plan;
}

/// The kernel of every panel: the choice for the whole product, so that it does not depend on the
/// split.
Plan whole_plan(const PanelJob& job, const PanelRequest& r) {
  const PanelShape whole{job.m, job.n, job.k, true};
  return plan_for(job, r, whole, {0, 0, 0, job.m, job.n, job.k, true, true}, "");
}

/// May lower the number of threads.
CpuPlan make_plan(PanelJob& job, const std::string& kernel) {
  CpuPlan plan;
  plan.request = describe(job, true);
  if (job.forced) {
    plan.shape = *job.forced;
    plan.buffer_bytes = bytes_held(plan.request, plan.shape);
    return plan;
  }
  const int64_t workspace = workspace_bytes(job, plan.request, {job.m, job.n, job.k}, kernel);
  plan.request.budget_bytes =
      std::clamp(kBesideFilesBytes - workspace, kLeastConversionBytes, kConversionBytes);
  plan.shape = plan_panels(plan.request).shape;
  plan.buffer_bytes = bytes_held(plan.request, plan.shape);
  if (job.options->memory_bytes == 0) return plan;
  const double files = static_cast<double>(job.a.file.bytes()) +
                       static_cast<double>(job.b.file.bytes()) +
                       static_cast<double>(job.m) * static_cast<double>(job.n) *
                           static_cast<double>(size_of(job.out->dtype()));
  const double all =
      files + static_cast<double>(plan.buffer_bytes + plan.window_bytes +
                                  workspace_bytes(job, plan.request, plan.shape, kernel));
  return all <= static_cast<double>(job.options->memory_bytes) ? plan : plan_bounded(job, kernel);
}

/// A panel in place, or converted into a buffer that remembers what it holds.
template <class T>
class CpuPanel {
 public:
  CpuPanel(const PanelOperand& operand, bool hold, int64_t rows, int64_t cols)
      : file_(operand.file), hold_(hold), ld_(hold ? padded_ld(cols, sizeof(T)) : file_.ld()) {
    if (hold_) buffer_ = HostBuffer("panel_gemm", buffer_bytes(rows, cols, sizeof(T)));
  }

  const T* at(const Block& block, const Transfer& transfer) {
    if (!hold_) {
      return reinterpret_cast<const T*>(file_.data) + block.row * ld_ + block.col;
    }
    T* const data = static_cast<T*>(buffer_.data());
    if (!(block == held_)) {
      held_ = Block{};
      load_block(file_, block, data, ld_, transfer);
      held_ = block;
    }
    return data;
  }

 private:
  const io::FileMatrix& file_;
  bool hold_;
  int64_t ld_;
  HostBuffer buffer_;
  Block held_;
};

template <class In, class T>
class CpuWalk {
 public:
  CpuWalk(const PanelJob& job, const CpuPlan& plan, const std::string& kernel)
      : job_(job),
        plan_(plan),
        kernel_(kernel),
        meter_(job),
        a_(job.a, plan.request.hold_a, job.a.trans ? plan.shape.k : plan.shape.m,
           job.a.trans ? plan.shape.m : plan.shape.k),
        b_(job.b, plan.request.hold_b, job.b.trans ? plan.shape.n : plan.shape.k,
           job.b.trans ? plan.shape.k : plan.shape.n),
        workspace_size_(workspace_bytes(job, plan.request, plan.shape, kernel)),
        workspace_("panel_gemm", workspace_size_) {
    if (plan.request.hold_c) {
      tile_ = HostBuffer("panel_gemm", buffer_bytes(plan.shape.m, plan.shape.n, sizeof(T)));
    }
    transfer_.threads = resolve_threads(job.options->gemm.threads);
    transfer_.window_bytes = plan.window_bytes;
    transfer_.release_output = plan.bounded;
    transfer_.tick = [this] { meter_.tick(); };
  }

  PanelReport run() {
    PanelReport report;
    for_each_step(job_, plan_.shape, [&](const PanelStep& step) {
      report.kernel_s += run_step(step);
      ++report.panels;
      meter_.finished(step);
    });
    report.elapsed_s = meter_.elapsed_s();
    report.buffer_bytes = plan_.buffer_bytes + workspace_size_;
    return report;
  }

 private:
  /// Seconds spent in the product.
  double run_step(const PanelStep& step) {
    const In* const a = a_.at(a_block(job_, step), transfer_);
    const In* const b = b_.at(b_block(job_, step), transfer_);
    const bool held = plan_.request.hold_c;
    const int64_t ldc = c_placement(job_, plan_.request, plan_.shape).ld;
    T* const c = held ? static_cast<T*>(tile_.data())
                      : reinterpret_cast<T*>(job_.out->data()) + step.i * ldc + step.j;
    const Block tile{step.i, step.j, step.m, step.n};
    if (step.first_k && job_.beta != 0) load_block(*job_.c0, tile, c, ldc, transfer_);

    const Plan plan = plan_for(job_, plan_.request, plan_.shape, step, kernel_);
    const auto start = std::chrono::steady_clock::now();
    plan.run(job_.alpha, a, b, step.first_k ? job_.beta : 1.0, c, workspace_.data(),
             static_cast<std::size_t>(workspace_size_));
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (step.last_k && held) store_block(*job_.out, tile, c, ldc, transfer_);
    return spent.count();
  }

  const PanelJob& job_;
  const CpuPlan& plan_;
  const std::string& kernel_;
  ProgressMeter meter_;
  CpuPanel<In> a_, b_;
  HostBuffer tile_;
  int64_t workspace_size_;
  HostBuffer workspace_;
  Transfer transfer_;
};

PanelReport walk(const PanelJob& job, const CpuPlan& plan, const std::string& kernel) {
  switch (job.input()) {
    case DType::kF64:
      return CpuWalk<double, double>(job, plan, kernel).run();
    case DType::kBF16:
      return CpuWalk<BFloat16, float>(job, plan, kernel).run();
    case DType::kF16:
      return CpuWalk<Float16, float>(job, plan, kernel).run();
    default:
      return CpuWalk<float, float>(job, plan, kernel).run();
  }
}

}  // namespace

PanelReport run_cpu(const PanelJob& given) {
  PanelJob job = given;
  const Plan whole = whole_plan(job, describe(job, true));
  const CpuPlan plan = make_plan(job, whole.kernel());
  PanelReport report = walk(job, plan, whole.kernel());
  const Plan largest = plan_for(job, plan.request, plan.shape,
                                distinct_steps(job, plan.shape).front(), whole.kernel());
  report.kernel = largest.kernel();
  report.explanation = whole.explain();
  report.panel_m = plan.shape.m;
  report.panel_n = plan.shape.n;
  report.panel_k = plan.shape.k;
  return report;
}

}  // namespace tessera::panel
