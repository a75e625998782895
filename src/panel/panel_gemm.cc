// Where a product in panels goes: nowhere (empty), to scaling, to the CPU or to a GPU.
#include "panel/panel_gemm.h"

#include <algorithm>

#include "core/host_buffer.h"
#include "core/threads.h"
#include "panel/panel_io.h"
#include "panel/panel_job.h"

namespace tessera {
namespace panel {
namespace {

using std::int64_t;

constexpr int64_t kScaleBufferBytes = 1 << 20;

/// beta * C0, rounded as the kernels do, a few rows at a time.
template <class T>
void scale(const PanelJob& job, ProgressMeter& meter) {
  const T beta = static_cast<T>(job.beta);
  const int64_t cols = std::min<int64_t>(job.n, kScaleBufferBytes / 8 / sizeof(T));
  const int64_t rows = std::clamp<int64_t>(kScaleBufferBytes / (cols * sizeof(T)), 1, job.m);
  const HostBuffer buffer("panel_gemm", rows * cols * static_cast<int64_t>(sizeof(T)));
  T* const data = static_cast<T*>(buffer.data());
  Transfer transfer;
  transfer.threads = resolve_threads(job.options->gemm.threads);
  transfer.window_bytes = kScaleBufferBytes;
  transfer.release_output = job.options->memory_bytes > 0;
  for (int64_t i = 0; i < job.m; i += rows) {
    for (int64_t j = 0; j < job.n; j += cols) {
      const Block block{i, j, std::min(rows, job.m - i), std::min(cols, job.n - j)};
      if (beta == T{0}) {
        std::fill_n(data, block.rows * block.cols, T{0});
      } else {
        load_block(*job.c0, block, data, block.cols, transfer);
        for (int64_t e = 0; e < block.rows * block.cols; ++e) data[e] *= beta;
      }
      store_block(*job.out, block, data, block.cols, transfer);
      meter.tick();
    }
  }
}

/// A kernel that was named is used or refused, and so is a wrong number of threads, even where
/// there is nothing to multiply.
void check_request(const PanelJob& job) {
  const auto placement = [](const PanelOperand& x) {
    return Placement{std::max<int64_t>(1, x.file.ld()), static_cast<int>(size_of(x.file.dtype))};
  };
  const Placement c{std::max<int64_t>(1, job.n), static_cast<int>(job.element_bytes())};
  plan_step(job, job.options->space, {0, 0, 0, job.m, job.n, job.k, true, true}, placement(job.a),
            placement(job.b), c, "");
}

PanelReport run(const PanelJob& job) {
  const bool empty = job.m == 0 || job.n == 0;
  if (empty || job.k == 0 || job.alpha == 0) check_request(job);
  if (empty) {
    PanelReport report;
    report.kernel = "none";
    return report;
  }
  if (job.k == 0 || job.alpha == 0) return run_scale(job);
  return job.options->space == Space::kHost ? run_cpu(job) : run_cuda(job);
}

}  // namespace

PanelReport run_scale(const PanelJob& job) {
  PanelReport report;
  report.kernel = "none";
  ProgressMeter meter(job);
  if (job.options->compute == DType::kF32) {
    scale<float>(job, meter);
  } else {
    scale<double>(job, meter);
  }
  report.elapsed_s = meter.elapsed_s();
  report.buffer_bytes = kScaleBufferBytes;
  return report;
}

PanelReport panel_gemm_forced(Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                              const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                              io::OutputMatrix& out, const PanelOptions& options,
                              const PanelShape& shape) {
  PanelJob job = make_job(op_a, op_b, alpha, a, b, beta, c0, out, options);
  job.forced = shape;
  return run(job);
}

}  // namespace panel

PanelReport panel_gemm(Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                       const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                       io::OutputMatrix& out, const PanelOptions& options) {
  return panel::run(panel::make_job(op_a, op_b, alpha, a, b, beta, c0, out, options));
}

}  // namespace tessera
