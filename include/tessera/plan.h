// A product prepared once and run many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tessera/gemm.h"
#include "tessera/kernel.h"

namespace tessera {

/// One operand without its pointer.
struct OperandDesc {
  std::int64_t rows = 0, cols = 0, ld = 0;
  Layout layout = Layout::kRowMajor;
  std::int64_t batch_stride = 0;  ///< elements; unused when batch is 1
  int alignment = 1;  ///< bytes that every pointer passed to run is a multiple of (power of two)

  bool operator==(const OperandDesc&) const = default;
};

/// Everything about a product but pointers and scalars.
struct GemmDesc {
  DType dtype = DType::kF32;   ///< of C, the scalars, products and sums: kF32 or kF64
  std::optional<DType> input;  ///< of A and B: kBF16 or kF16 beside kF32; empty: dtype
  Space space = Space::kHost;
  int device = -1;  ///< CUDA device index; -1 is the caller's current device
  Op op_a = Op::kN, op_b = Op::kN;
  OperandDesc a, b, c;
  std::int64_t batch = 1;

  DType input_dtype() const { return input.value_or(dtype); }
  bool operator==(const GemmDesc&) const = default;
};

/// The choice of a kernel for a GemmDesc, with its workspace.
///
/// Immutable after construction: one plan may run from many threads at once, each with its own
/// workspace. run allocates nothing.
class Plan {
 public:
  /// Checks the description and chooses. Throws as gemm does. options.stream is not used here.
  explicit Plan(const GemmDesc& desc, const GemmOptions& options = {});

  /// The chosen kernel's id.
  const std::string& kernel() const;
  /// The choice and every rejected candidate; computed anew at each call.
  Explanation explain() const;
  /// Scratch memory run needs, in the operands' memory space; may be 0.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// CPU threads run will use at most.
  int threads() const { return threads_; }
  /// The problem in canonical form.
  const Problem& problem() const { return problem_; }

  /// C = alpha * op(A) * op(B) + beta * C, semantics and errors as gemm.
  ///
  /// alpha and beta are rounded to C's type. `workspace` is 256-byte aligned and at least
  /// workspace_bytes() long; it may be null when that is 0. On CUDA everything is enqueued on
  /// `stream` (a cudaStream_t of the plan's device) and may be captured into a graph.
  void run(double alpha, const void* a, const void* b, double beta, void* c,
           void* workspace = nullptr, std::size_t workspace_bytes = 0,
           void* stream = nullptr) const;

 private:
  GemmDesc desc_;
  Problem problem_;
  bool swapped_ = false;  // canonical A is the caller's B (column-major C)
  const Kernel* kernel_ = nullptr;
  const DeviceInfo* device_ = nullptr;
  int threads_ = 1;
  std::size_t workspace_bytes_ = 0;
  std::string requested_;  // GemmOptions::kernel
};

}  // namespace tessera
