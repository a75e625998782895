#include "verify/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/threads.h"
#include "tessera/error.h"
#include "verify/block_product.h"

namespace tessera::verify_detail {
namespace {

void pad_columns(std::int64_t rows, std::int64_t cols, double* out, std::int64_t ld) {
  const std::int64_t padded = round_up(cols, 8);
  for (std::int64_t i = 0; i < rows && cols < padded; ++i) {
    std::fill(out + i * ld + cols, out + i * ld + padded, 0.0);
  }
}

void read_block(const MatrixSource& source, bool narrow, std::int64_t row, std::int64_t col,
                std::int64_t rows, std::int64_t cols, double* out, std::int64_t ld) {
  source.read(row, col, rows, cols, out, ld);
  pad_columns(rows, cols, out, ld);
  if (narrow) round_to_f32(rows, round_up(cols, 8), out, ld);
}

}  // namespace

void Runner::begin_phase(double to, double work) {
  from_ = to_;
  to_ = to;
  phase_work_ = std::max(work, 1.0);
  done_ = 0;
}

void Runner::run(std::int64_t tasks, double work,
                 const std::function<void(std::int64_t, int)>& body) {
  failure_ = nullptr;
  // parallel_for takes no exceptions, and a source that reads a file may well throw.
  parallel_for(threads_, tasks, [&](std::int64_t task, int worker) {
    try {
      body(task, worker);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  });
  if (failure_) std::rethrow_exception(failure_);
  done_ += work;
  const double fraction = from_ + (to_ - from_) * std::min(1.0, done_ / phase_work_);
  if (progress_ && !progress_(fraction)) {
    throw Error(ErrorCode::kCancelled,
                fmt::format("verify: progress returned false after {:.1f}% of the work: stopped",
                            100 * fraction));
  }
}

void Check::read_a(std::int64_t i, std::int64_t p, std::int64_t rows, std::int64_t cols,
                   double* out, std::int64_t ld) const {
  op_a == Op::kN ? read_block(*a, narrow, i, p, rows, cols, out, ld)
                 : read_block(*a, narrow, p, i, cols, rows, out, ld);
}

void Check::read_b(std::int64_t p, std::int64_t j, std::int64_t rows, std::int64_t cols,
                   double* out, std::int64_t ld) const {
  op_b == Op::kN ? read_block(*b, narrow, p, j, rows, cols, out, ld)
                 : read_block(*b, narrow, j, p, cols, rows, out, ld);
}

void Check::read_c0(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols,
                    double* out, std::int64_t ld) const {
  read_block(*c0, narrow, i, j, rows, cols, out, ld);
}

void Check::read_c(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols,
                   double* out, std::int64_t ld) const {
  read_block(*c, false, i, j, rows, cols, out, ld);
}

}  // namespace tessera::verify_detail
