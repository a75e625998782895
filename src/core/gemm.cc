// The one-call form: a plan built from views, run once.
#include "tessera/gemm.h"

#include <fmt/format.h>

#include "core/backend.h"
#include "core/canonical.h"
#include "core/recent_plans.h"
#include "core/run_once.h"
#include "core/thread_scratch.h"
#include "tessera/plan.h"

namespace tessera {
namespace {

/// Scratch memory on a device, for what is enqueued on a stream while this object lives.
class DeviceWorkspace {
 public:
  DeviceWorkspace(int device, void* stream, std::size_t bytes)
      : guard_(device), stream_(stream), data_(cuda::allocate_on(stream, bytes)) {}
  ~DeviceWorkspace() { cuda::release_on(stream_, data_); }
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  DeviceWorkspace& operator=(const DeviceWorkspace&) = delete;
  void* data() const { return data_; }

 private:
  cuda::DeviceGuard guard_;
  void* stream_;
  void* data_;
};

void run_plan(const Plan& plan, const GemmDesc& desc, void* stream, double alpha, const void* a,
              const void* b, double beta, void* c) {
  const std::size_t bytes = plan.workspace_bytes();
  const auto run_with = [&](void* workspace) {
    plan.run(alpha, a, b, beta, c, workspace, bytes, stream);
  };
  if (bytes == 0) {
    run_with(nullptr);
  } else if (desc.space == Space::kCuda) {
    run_with(DeviceWorkspace(desc.device, stream, bytes).data());
  } else {
    run_with(ThreadScratch(bytes).data());
  }
}

template <class T>
OperandDesc describe(const MatrixView<T>& view, std::int64_t batch_stride) {
  // What no kernel of the host asks for would only make two products of the same sizes differ.
  const int alignment =
      view.space == Space::kCuda ? alignment_of(reinterpret_cast<std::uintptr_t>(view.data)) : 1;
  return {view.rows, view.cols, view.ld, view.layout, batch_stride, alignment};
}

template <class T, class In>
void run(Op op_a, Op op_b, T alpha, const MatrixView<const In>& a, std::int64_t stride_a,
         const MatrixView<const In>& b, std::int64_t stride_b, T beta, const MatrixView<T>& c,
         std::int64_t stride_c, std::int64_t batch, const GemmOptions& options) {
  if (a.space != c.space || b.space != c.space) {
    const auto name = [](Space s) { return s == Space::kHost ? "host" : "CUDA"; };
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("gemm: A in {}, B in {}, C in {} memory: all must be in the same",
                            name(a.space), name(b.space), name(c.space)));
  }
  GemmDesc desc{.dtype = DTypeOf<T>::value,
                .input = DTypeOf<In>::value,
                .space = c.space,
                .op_a = op_a,
                .op_b = op_b,
                .a = describe(a, stride_a),
                .b = describe(b, stride_b),
                .c = describe(c, stride_c),
                .batch = batch};
  if (c.space == Space::kCuda && c.data != nullptr) {
    desc.device = cuda::device_of(c.data, "C");
    // A kernel that reads host memory fails later, and takes the whole CUDA context with it.
    if (a.data != nullptr) cuda::device_of(a.data, "A");
    if (b.data != nullptr) cuda::device_of(b.data, "B");
  }
  run_once(desc, options, alpha, a.data, b.data, beta, c.data);
}

}  // namespace

void run_once(const GemmDesc& desc, const GemmOptions& options, double alpha, const void* a,
              const void* b, double beta, void* c) {
  if (may_repeat(desc, options)) {
    run_plan(recent_plan(desc, options), desc, options.stream, alpha, a, b, beta, c);
  } else {
    run_plan(Plan(desc, options), desc, options.stream, alpha, a, b, beta, c);
  }
}

void gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b,
          float beta, MatrixView<float> c, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, 0, b, 0, beta, c, 0, 1, options);
}

void gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
          double beta, MatrixView<double> c, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, 0, b, 0, beta, c, 0, 1, options);
}

void gemm(Op op_a, Op op_b, float alpha, MatrixView<const BFloat16> a, MatrixView<const BFloat16> b,
          float beta, MatrixView<float> c, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, 0, b, 0, beta, c, 0, 1, options);
}

void gemm(Op op_a, Op op_b, float alpha, MatrixView<const Float16> a, MatrixView<const Float16> b,
          float beta, MatrixView<float> c, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, 0, b, 0, beta, c, 0, 1, options);
}

void gemm_strided_batched(Op op_a, Op op_b, float alpha, MatrixView<const float> a,
                          std::int64_t stride_a, MatrixView<const float> b, std::int64_t stride_b,
                          float beta, MatrixView<float> c, std::int64_t stride_c,
                          std::int64_t batch, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, stride_a, b, stride_b, beta, c, stride_c, batch, options);
}

void gemm_strided_batched(Op op_a, Op op_b, double alpha, MatrixView<const double> a,
                          std::int64_t stride_a, MatrixView<const double> b, std::int64_t stride_b,
                          double beta, MatrixView<double> c, std::int64_t stride_c,
                          std::int64_t batch, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, stride_a, b, stride_b, beta, c, stride_c, batch, options);
}

void gemm_strided_batched(Op op_a, Op op_b, float alpha, MatrixView<const BFloat16> a,
                          std::int64_t stride_a, MatrixView<const BFloat16> b,
                          std::int64_t stride_b, float beta, MatrixView<float> c,
                          std::int64_t stride_c, std::int64_t batch, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, stride_a, b, stride_b, beta, c, stride_c, batch, options);
}

void gemm_strided_batched(Op op_a, Op op_b, float alpha, MatrixView<const Float16> a,
                          std::int64_t stride_a, MatrixView<const Float16> b, std::int64_t stride_b,
                          float beta, MatrixView<float> c, std::int64_t stride_c,
                          std::int64_t batch, const GemmOptions& options) {
  run(op_a, op_b, alpha, a, stride_a, b, stride_b, beta, c, stride_c, batch, options);
}

}  // namespace tessera
