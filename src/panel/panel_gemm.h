// Products of matrices in files, in panels: within a memory budget, on the CPU or on a GPU whose
// memory is smaller than the matrices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/tensor.h"
#include "tessera/gemm.h"
#include "tessera/kernel.h"

namespace tessera {

struct PanelProgress {
  double fraction = 0;  ///< of the multiply-adds
  double elapsed_s = 0;
  double flops_done = 0;
};

struct PanelOptions {
  GemmOptions gemm;  ///< kernel, threads; stream is not used
  /// Element type computed in: kF32 or kF64.
  DType compute = DType::kF32;
  /// What A and B are rounded to first: kBF16 or kF16 beside kF32, on the CPU; empty: compute.
  std::optional<DType> input;
  Space space = Space::kHost;
  int device = 0;  ///< CUDA device index
  /// Bound on memory in bytes: host buffers and resident pages of the mappings on the CPU, device
  /// buffers on a GPU. 0: no bound on the CPU (operands usable in place are), free memory on a GPU.
  std::int64_t memory_bytes = 0;
  /// Called between panels from the calling thread; returning false stops with
  /// Error(kCancelled).
  std::function<bool(const PanelProgress&)> progress;
};

struct PanelReport {
  std::string kernel;       ///< id of the kernel of the largest panel
  Explanation explanation;  ///< of that choice
  std::int64_t panel_m = 0, panel_n = 0, panel_k = 0;
  std::int64_t panels = 0;        ///< products run
  double elapsed_s = 0;           ///< wall time with conversion and copies
  double kernel_s = 0;            ///< time in products only
  std::int64_t buffer_bytes = 0;  ///< host (CPU) or device (GPU) memory used for panels
};

/// out = alpha * op(a) * op(b) + beta * c0, semantics as tessera::gemm (beta is applied once).
/// Operands already of the type multiplied in native byte order are used in place when no budget
/// forbids it; everything else is converted panel by panel. On a GPU, copies of the next panels
/// overlap the product of the present one. c0 is needed when beta != 0.
PanelReport panel_gemm(Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                       const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                       io::OutputMatrix& out, const PanelOptions& options);

}  // namespace tessera
