#include "panel/panel_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/round.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

using std::int64_t;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "panel_gemm: " + message);
}

PanelOperand as_row_major(const io::FileMatrix& file, Op op) {
  PanelOperand out{file, op == Op::kT};
  if (file.layout == Layout::kColMajor) {
    out.file.layout = Layout::kRowMajor;
    std::swap(out.file.rows, out.file.cols);
    out.trans = !out.trans;
  }
  return out;
}

double as_computed(double scalar, DType compute) {
  return compute == DType::kF32 ? round_to_f32(scalar) : scalar;
}

}  // namespace

PanelJob make_job(Op op_a, Op op_b, double alpha, const io::FileMatrix& a, const io::FileMatrix& b,
                  double beta, const io::FileMatrix* c0, io::OutputMatrix& out,
                  const PanelOptions& options) {
  if (options.compute != DType::kF32 && options.compute != DType::kF64) {
    refuse(fmt::format("compute type {}: must be f32 or f64", to_string(options.compute)));
  }
  const DType input = options.input.value_or(options.compute);
  const bool half = input == DType::kBF16 || input == DType::kF16;
  if (input != options.compute && !(half && options.compute == DType::kF32)) {
    refuse(
        fmt::format("input type {} with compute type {}: must be the same, or bf16 or f16 with "
                    "f32",
                    to_string(input), to_string(options.compute)));
  }
  if (half && options.space == Space::kCuda) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("panel_gemm: no CUDA kernel of this version multiplies {}; the CPU "
                            "does",
                            to_string(input)));
  }
  if (options.memory_bytes < 0) {
    refuse(fmt::format("memory_bytes = {}: must be >= 0", options.memory_bytes));
  }
  PanelJob job;
  job.m = op_a == Op::kT ? a.cols : a.rows;
  job.k = op_a == Op::kT ? a.rows : a.cols;
  job.n = op_b == Op::kT ? b.rows : b.cols;
  const int64_t k_b = op_b == Op::kT ? b.cols : b.rows;
  if (job.k != k_b) {
    refuse(
        fmt::format("op(A) is {} x {} ({}) and op(B) is {} x {} ({}): the inner sizes must be "
                    "equal",
                    job.m, job.k, a.name, k_b, job.n, b.name));
  }
  if (out.rows() != job.m || out.cols() != job.n) {
    refuse(fmt::format("the output is {} x {}, but op(A) op(B) is {} x {}", out.rows(), out.cols(),
                       job.m, job.n));
  }
  job.alpha = as_computed(alpha, options.compute);
  job.beta = as_computed(beta, options.compute);
  if (job.beta != 0) {
    if (c0 == nullptr) refuse(fmt::format("beta = {} needs a C to add, but none is given", beta));
    if (c0->rows != job.m || c0->cols != job.n) {
      refuse(fmt::format("C ({}) is {} x {}, but op(A) op(B) is {} x {}", c0->name, c0->rows,
                         c0->cols, job.m, job.n));
    }
    job.c0 = c0;
  }
  job.a = as_row_major(a, op_a);
  job.b = as_row_major(b, op_b);
  job.out = &out;
  job.options = &options;
  job.threads = options.gemm.threads;
  return job;
}

void for_each_step(const PanelJob& job, const PanelShape& shape,
                   const std::function<void(const PanelStep&)>& visit) {
  const auto tile = [&](int64_t i, int64_t j) {
    for (int64_t p = 0; p < job.k; p += shape.k) {
      PanelStep step{i,
                     j,
                     p,
                     std::min(shape.m, job.m - i),
                     std::min(shape.n, job.n - j),
                     std::min(shape.k, job.k - p)};
      step.first_k = p == 0;
      step.last_k = p + step.k == job.k;
      visit(step);
    }
  };
  if (shape.a_outer) {
    for (int64_t i = 0; i < job.m; i += shape.m) {
      for (int64_t j = 0; j < job.n; j += shape.n) tile(i, j);
    }
  } else {
    for (int64_t j = 0; j < job.n; j += shape.n) {
      for (int64_t i = 0; i < job.m; i += shape.m) tile(i, j);
    }
  }
}

std::vector<PanelStep> distinct_steps(const PanelJob& job, const PanelShape& shape) {
  const auto sizes = [](int64_t dim, int64_t panel) {
    std::vector<int64_t> out{std::min(dim, panel)};
    if (dim > panel && dim % panel != 0) out.push_back(dim % panel);
    return out;
  };
  std::vector<PanelStep> steps;
  for (const int64_t m : sizes(job.m, shape.m)) {
    for (const int64_t n : sizes(job.n, shape.n)) {
      for (const int64_t k : sizes(job.k, shape.k)) steps.push_back({0, 0, 0, m, n, k, true, true});
    }
  }
  return steps;
}

Block a_block(const PanelJob& job, const PanelStep& s) {
  return job.a.trans ? Block{s.p, s.i, s.k, s.m} : Block{s.i, s.p, s.m, s.k};
}
Block b_block(const PanelJob& job, const PanelStep& s) {
  return job.b.trans ? Block{s.j, s.p, s.n, s.k} : Block{s.p, s.j, s.k, s.n};
}

Plan plan_step(const PanelJob& job, Space space, const PanelStep& step, Placement a, Placement b,
               Placement c, const std::string& kernel) {
  const auto describe = [](const Block& block, Placement at) {
    return OperandDesc{block.rows, block.cols, at.ld, Layout::kRowMajor, 0, at.alignment};
  };
  GemmDesc desc;
  desc.dtype = job.options->compute;
  desc.input = job.input();
  desc.space = space;
  desc.device = space == Space::kCuda ? job.options->device : -1;
  desc.op_a = job.a.trans ? Op::kT : Op::kN;
  desc.op_b = job.b.trans ? Op::kT : Op::kN;
  desc.a = describe(a_block(job, step), a);
  desc.b = describe(b_block(job, step), b);
  desc.c = describe(Block{step.i, step.j, step.m, step.n}, c);
  GemmOptions options = job.options->gemm;
  options.threads = job.threads;
  if (!kernel.empty()) {
    options.kernel = kernel;
    try {
      return Plan(desc, options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      options.kernel = job.options->gemm.kernel;
    }
  }
  return Plan(desc, options);
}

ProgressMeter::ProgressMeter(const PanelJob& job)
    : job_(job),
      total_(static_cast<double>(job.m) * static_cast<double>(job.n) * static_cast<double>(job.k)) {
}

double ProgressMeter::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressMeter::finished(const PanelStep& step) {
  done_ += static_cast<double>(step.m) * static_cast<double>(step.n) * static_cast<double>(step.k);
  tick();
}

void ProgressMeter::tick() {
  if (!job_.options->progress) return;
  const double fraction = total_ > 0 ? std::min(1.0, done_ / total_) : 1.0;
  if (job_.options->progress({fraction, elapsed_s(), 2 * done_})) return;
  throw Error(ErrorCode::kCancelled,
              fmt::format("panel_gemm: progress returned false after {:.1f}% of the work: stopped",
                          100 * fraction));
}

}  // namespace tessera::panel
