// Products whose matrices lie anywhere, one shape for all: many small ones are spread over threads,
// threads work inside a large one.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>

#include "core/call_log.h"
#include "core/canonical.h"
#include "core/int_math.h"
#include "core/pointer_batch.h"
#include "core/thread_scratch.h"
#include "core/threads.h"
#include "tessera/gemm.h"
#include "tessera/plan.h"

namespace tessera {
namespace {

using std::int64_t;

/// Of one product; below it, waking threads costs more than they bring.
constexpr double kMultiplyAddsForThreads = 4e6;
/// Of all workers together.
constexpr std::size_t kMostWorkspaceBytes = std::size_t{48} << 20;
/// Tasks a thread gets, so that threads that start late or run slower even out.
constexpr int64_t kTasksPerThread = 8;
constexpr int64_t kMostMembersPerTask = 64;

template <class T>
OperandDesc describe(MatrixView<T> view, T* const* pointers, int64_t batch, bool read) {
  std::uintptr_t bits = 0;
  read = read && pointers != nullptr && view.rows != 0 && view.cols != 0;
  for (int64_t i = 0; read && i < batch; ++i) bits |= reinterpret_cast<std::uintptr_t>(pointers[i]);
  return {view.rows, view.cols, view.ld, view.layout, 0, alignment_of(bits)};
}

template <class T>
struct Job {
  PointerBatch<T> x;
  T alpha, beta;
  const Plan& alone;   // one thread for a member
  const Plan& shared;  // all threads in one member
  int workers;
  std::size_t worker_bytes;
};

/// The first exception of several tasks, for the caller.
class FirstError {
 public:
  void remember() noexcept {
    if (!taken_.exchange(true)) error_ = std::current_exception();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> taken_{false};
  std::exception_ptr error_;
};

template <class T>
void run_member(const Job<T>& job, const Plan& plan, int64_t i, void* workspace) {
  const bool read = plan.problem().k > 0 && job.alpha != T{0};
  plan.run(static_cast<double>(job.alpha), read ? job.x.a[i] : nullptr, read ? job.x.b[i] : nullptr,
           static_cast<double>(job.beta), job.x.c[i], workspace, plan.workspace_bytes());
}

template <class T>
void run_members(const Job<T>& job, void* workspace) {
  const Problem& p = job.alone.problem();
  const int64_t batch = job.x.batch;
  const bool small =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) <
      kMultiplyAddsForThreads;
  // Of large ones, what does not fill all workers is left for threads inside a product.
  const int64_t spread = small ? batch : batch - batch % job.workers;
  const int64_t per_task =
      small ? std::clamp<int64_t>(spread / (job.workers * kTasksPerThread), 1, kMostMembersPerTask)
            : 1;
  FirstError error;
  const auto task = [&](int64_t index, int worker) {
    try {
      void* const own = static_cast<std::byte*>(workspace) + worker * job.worker_bytes;
      const int64_t end = std::min(spread, (index + 1) * per_task);
      for (int64_t i = index * per_task; i < end; ++i) run_member(job, job.alone, i, own);
    } catch (...) {
      error.remember();
    }
  };
  parallel_for(job.workers, ceil_div(spread, per_task), std::cref(task));
  error.rethrow();
  for (int64_t i = spread; i < batch; ++i) run_member(job, job.shared, i, workspace);
}

template <class T>
void run(Op op_a, Op op_b, T alpha, MatrixView<const T> a, const T* const* a_members,
         MatrixView<const T> b, const T* const* b_members, T beta, MatrixView<T> c,
         T* const* c_members, int64_t batch, const GemmOptions& options) {
  if (a.space != Space::kHost || b.space != Space::kHost || c.space != Space::kHost) {
    throw Error(ErrorCode::kUnsupported,
                "gemm: arrays of pointers to CUDA memory have no kernel in this version; "
                "gemm_strided_batched, or one call for each member, does it");
  }
  if (batch < 0 || batch > INT64_MAX / 64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("gemm: batch = {}: must be from 0 to 2^57", batch));
  }
  GemmDesc desc;
  desc.dtype = DTypeOf<T>::value;
  desc.op_a = op_a;
  desc.op_b = op_b;
  desc.a = describe<const T>(a, a_members, batch, alpha != T{0});
  desc.b = describe<const T>(b, b_members, batch, alpha != T{0});
  desc.c = describe<T>(c, c_members, batch, true);
  GemmOptions single = options;
  single.threads = 1;
  const Plan shared(desc, options), alone(desc, single);
  const Problem& p = alone.problem();
  if (p.m == 0 || p.n == 0 || batch == 0) return;

  const auto rounded = [](std::size_t bytes) {
    return static_cast<std::size_t>(round_up(static_cast<int64_t>(bytes), 256));
  };
  const std::size_t worker_bytes = rounded(alone.workspace_bytes());
  const auto room =
      static_cast<int64_t>(kMostWorkspaceBytes / std::max<std::size_t>(worker_bytes, 1));
  const int64_t workers = std::max<int64_t>(1, std::min({int64_t{shared.threads()}, batch, room}));
  const std::size_t check_bytes = rounded(pointer_check_bytes(batch));
  const ThreadScratch scratch(
      check_bytes +
      std::max(static_cast<std::size_t>(workers) * worker_bytes, shared.workspace_bytes()));
  const Job<T> job{{desc, a_members, b_members, c_members, batch},
                   alpha,
                   beta,
                   alone,
                   shared,
                   static_cast<int>(workers),
                   worker_bytes};
  check_call_log();
  check_pointer_batch(job.x, p.k > 0 && alpha != T{0}, scratch.data());
  run_members(job, static_cast<std::byte*>(scratch.data()) + check_bytes);
}

}  // namespace

void gemm_pointer_batched(Op op_a, Op op_b, float alpha, MatrixView<const float> a,
                          const float* const* a_members, MatrixView<const float> b,
                          const float* const* b_members, float beta, MatrixView<float> c,
                          float* const* c_members, std::int64_t batch, const GemmOptions& options) {
  run<float>(op_a, op_b, alpha, a, a_members, b, b_members, beta, c, c_members, batch, options);
}

void gemm_pointer_batched(Op op_a, Op op_b, double alpha, MatrixView<const double> a,
                          const double* const* a_members, MatrixView<const double> b,
                          const double* const* b_members, double beta, MatrixView<double> c,
                          double* const* c_members, std::int64_t batch,
                          const GemmOptions& options) {
  run<double>(op_a, op_b, alpha, a, a_members, b, b_members, beta, c, c_members, batch, options);
}

}  // namespace tessera
