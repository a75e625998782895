// What both stages of the check share: the problem put in order, reading, and running of tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "core/int_math.h"
#include "tessera/verify.h"
#include "verify/error_model.h"

namespace tessera::verify_detail {

/// With more threads their scratch memory would pass 64 MiB, which is what `tessera mul` may hold
/// beside its matrices, and the first stage has no more tasks at a time.
inline constexpr int kMostThreads = 64;

/// Runs waves of tasks, passes on what a task throws, and reports progress between waves.
class Runner {
 public:
  Runner(int threads, const std::function<bool(double)>& progress)
      : threads_(std::min(threads, kMostThreads)), progress_(progress) {}
  int threads() const { return threads_; }

  /// What follows, `work` units of it, takes the fraction done from where it is to `to`.
  void begin_phase(double to, double work);
  /// Runs body(task, worker) for tasks [0, tasks); then `work` units more are done.
  /// Throws what a task threw, or Error(kCancelled) when the caller asks to stop.
  void run(std::int64_t tasks, double work,
           const std::function<void(std::int64_t task, int worker)>& body);

 private:
  int threads_;
  const std::function<bool(double)>& progress_;
  double from_ = 0, to_ = 0, phase_work_ = 1, done_ = 0;
  std::mutex mutex_;  // guards failure_
  std::exception_ptr failure_;
};

/// The product to check, after the rules on scalars: k is 0 when A and B are not read, beta is 0
/// when C0 is not.
struct Check {
  Op op_a = Op::kN, op_b = Op::kN;
  double alpha = 1, beta = 0;
  std::int64_t m = 0, n = 0, k = 0;
  const MatrixSource* a = nullptr;
  const MatrixSource* b = nullptr;
  const MatrixSource* c0 = nullptr;
  const MatrixSource* c = nullptr;
  bool narrow = true;  ///< operands are rounded to f32, as the product saw them
  ErrorModel model;

  /// Elements (i, p) of op(A): at out[i * ld + p], or at out[p * ld + i] when op_a is kT, so that a
  /// block is always read in the order of its source. Columns of `out` up to the next multiple of 8
  /// are set to zero. read_b likewise for elements (p, j) of op(B).
  void read_a(std::int64_t i, std::int64_t p, std::int64_t rows, std::int64_t cols, double* out,
              std::int64_t ld) const;
  void read_b(std::int64_t p, std::int64_t j, std::int64_t rows, std::int64_t cols, double* out,
              std::int64_t ld) const;
  void read_c0(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols, double* out,
               std::int64_t ld) const;
  void read_c(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols, double* out,
              std::int64_t ld) const;
};

}  // namespace tessera::verify_detail
