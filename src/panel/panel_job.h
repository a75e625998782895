// One product in panels, checked and normalised: what the CPU walk and the GPU walk share.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "panel/panel_gemm.h"
#include "panel/plan_panels.h"
#include "tessera/plan.h"

namespace tessera::panel {

/// op(X) of a file. Column-major files are seen as their transpose, so `file` is always row-major
/// and panels are read along the file.
struct PanelOperand {
  io::FileMatrix file;
  bool trans = false;  ///< op(X) is the transpose of `file`
};

struct PanelJob {
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;  ///< as the type computed in holds them
  PanelOperand a, b;
  const io::FileMatrix* c0 = nullptr;  ///< null when beta == 0
  io::OutputMatrix* out = nullptr;
  const PanelOptions* options = nullptr;
  int threads = 0;                   ///< of products on the CPU; as GemmOptions::threads
  std::optional<PanelShape> forced;  ///< instead of planning (tests)

  std::int64_t element_bytes() const {
    return static_cast<std::int64_t>(size_of(options->compute));
  }
  /// Of A and B.
  DType input() const { return options->input.value_or(options->compute); }
  std::int64_t input_bytes() const { return static_cast<std::int64_t>(size_of(input())); }
};

/// Checks shapes, dtype and C0; throws Error(kInvalidArgument).
PanelJob make_job(Op op_a, Op op_b, double alpha, const io::FileMatrix& a, const io::FileMatrix& b,
                  double beta, const io::FileMatrix* c0, io::OutputMatrix& out,
                  const PanelOptions& options);

/// One product of the walk: rows [i, i + m) and columns [j, j + n) of C, depth [p, p + k).
struct PanelStep {
  std::int64_t i = 0, j = 0, p = 0;
  std::int64_t m = 0, n = 0, k = 0;
  bool first_k = false, last_k = false;
};

/// The products of a walk in order.
void for_each_step(const PanelJob& job, const PanelShape& shape,
                   const std::function<void(const PanelStep&)>& visit);

/// One step of each size that occurs: full panels and the last, shorter ones. The largest is first.
std::vector<PanelStep> distinct_steps(const PanelJob& job, const PanelShape& shape);

/// The rectangle of a file that holds a panel.
struct Block {
  std::int64_t row = -1, col = -1, rows = 0, cols = 0;
  bool operator==(const Block&) const = default;
};
Block a_block(const PanelJob& job, const PanelStep& step);
Block b_block(const PanelJob& job, const PanelStep& step);

/// How an operand of a product lies in memory.
struct Placement {
  std::int64_t ld = 0;
  int alignment = 1;  ///< bytes
};
/// The product of one step as a plan. With `kernel` the choice is that kernel, as long as it can
/// take the step; else (or when empty) what the caller asked for.
Plan plan_step(const PanelJob& job, Space space, const PanelStep& step, Placement a, Placement b,
               Placement c, const std::string& kernel);

/// Counts multiply-adds, calls the caller back, and throws Error(kCancelled) when it says stop.
class ProgressMeter {
 public:
  explicit ProgressMeter(const PanelJob& job);
  void finished(const PanelStep& step);  ///< a product is complete
  void tick();                           ///< nothing new is complete, but the caller may stop
  double elapsed_s() const;

 private:
  const PanelJob& job_;
  double done_ = 0, total_ = 0;  // multiply-adds
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The walk on the CPU.
PanelReport run_cpu(const PanelJob& job);
/// The walk on CUDA device options.device.
PanelReport run_cuda(const PanelJob& job);
/// C = beta * C0 (alpha == 0 or k == 0), on the host whatever the device.
PanelReport run_scale(const PanelJob& job);

/// As panel_gemm, in panels of this shape.
PanelReport panel_gemm_forced(Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                              const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                              io::OutputMatrix& out, const PanelOptions& options,
                              const PanelShape& shape);

}  // namespace tessera::panel
