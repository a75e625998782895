// A lone kernel on a real GPU: is it right there, and how fast beside the rungs and cuBLAS?
//
// Everything that touches the GPU happens in child processes: a kernel may crash or hang, and this
// process must be able to fork, which CUDA forbids once it is in use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/check.h"

namespace tessera::simt {

struct GpuDevice {
  std::string name;          ///< "NVIDIA H200"
  std::string architecture;  ///< "sm_90"
};
/// Throws Error(kNoDevice) with the reason.
GpuDevice find_gpu();

/// A product at one size, on the GPU and in the executor, from the same operands.
struct GpuProduct {
  std::int64_t m = 0, n = 0, k = 0;
  bool ran = false;
  std::string fault;              ///< why it did not run
  std::vector<Finding> findings;  ///< of the judge, on the GPU's C, and input-written
  bool executor_ran = false;      ///< to the end, and all blocks
  bool executor_right = false;    ///< by the judge
  bool executor_clean = false;    ///< the check found nothing at all
  std::int64_t differing = 0;     ///< elements farther apart than rounding can be
  bool right() const { return ran && findings.empty(); }
};

/// One contender of the timed product. A speed stands only beside "passed".
struct GpuTime {
  std::string name, kernel;  ///< "k02_tiled", its id
  std::string disposition, detail;
  double seconds = 0, tflops = 0, of_cublas = 0, noise = 0;
  std::string timer;
};

struct GpuReport {
  GpuDevice device;
  std::vector<GpuProduct> products;
  std::int64_t m = 0, n = 0, k = 0;  ///< of the times
  std::vector<GpuTime> times;        ///< the checked kernel first
  std::vector<std::string> notes;
  /// The kernel is wrong on the GPU, or differs from the executor's result.
  bool failed() const;
};

/// What the executor made of one size.
struct ExecutorRun {
  Sizes sizes{};
  std::vector<Finding> findings;
};

/// Ready before the check runs, so that what is missing is said at once.
class GpuTrial {
 public:
  /// Throws Error(kNoDevice) without a GPU and Error(kUnsupported) without nvcc.
  /// TESSERA_CHECK_GPU_IMAGE may name an image that was built elsewhere.
  GpuTrial();

  /// The sizes must have been run, with options.keep_products. Throws Error(kUnsupported) for a
  /// source that nvcc does not compile.
  GpuReport run(const CheckedProgram& program, const std::vector<ExecutorRun>& runs,
                const Sizes& timed) const;

 private:
  GpuDevice device_;
  std::string image_, nvcc_;
};

std::string to_text(const GpuReport& report);
/// Described in docs/exercise.md.
Json to_json(const GpuReport& report);

}  // namespace tessera::simt
