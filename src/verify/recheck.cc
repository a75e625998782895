#include "verify/recheck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "verify/block_product.h"

namespace tessera::verify_detail {
namespace {

// B is read once for each group of rows. A block of B, its magnitudes and the two accumulators stay
// in the second-level cache together.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kInner = 128;
constexpr std::int64_t kCols = kColumnBlock;
// Tasks in one wave, at least: enough to share among threads, few enough to stop soon.
constexpr std::int64_t kWaveTasks = 32;
// With both factors scaled by 2^-540 no FP64 product, and no sum of fewer than 2^55, overflows.
constexpr int kScaleExponent = -540;

struct Scratch {
  std::vector<double> a, a_size, b, b_size, source, sum, magnitude, scaled_sum, scaled_magnitude;
  Scratch()
      : a(kRows * kInner),
        a_size(kRows * kInner),
        b(kInner * kCols),
        b_size(kInner * kCols),
        source(kInner * kCols),
        sum(kRows * kCols),
        magnitude(kRows * kCols) {}
};

/// One group of rows against one block of columns.
class Tile {
 public:
  Tile(const Check& check, Scratch& scratch, const std::int64_t* rows, std::int64_t row_count,
       std::int64_t col)
      : check_(check),
        s_(scratch),
        rows_(rows),
        row_count_(row_count),
        col_(col),
        cols_(std::min(kCols, check.n - col)),
        width_(round_up(cols_, 8)),
        depth_(round_up(std::min(kInner, check.k), 8)) {}

  RecheckResult run() {
    accumulate(0, s_.sum, s_.magnitude);
    const double* const magnitude = s_.magnitude.data();
    const bool overflowed = std::any_of(magnitude, magnitude + row_count_ * width_,
                                        [](double x) { return std::isinf(x); });
    if (overflowed) {
      s_.scaled_sum.resize(kRows * kCols);
      s_.scaled_magnitude.resize(kRows * kCols);
      accumulate(kScaleExponent, s_.scaled_sum, s_.scaled_magnitude);
    }
    return judge(overflowed);
  }

 private:
  void accumulate(int exponent, std::vector<double>& sum, std::vector<double>& magnitude) {
    std::fill_n(sum.begin(), row_count_ * width_, 0.0);
    std::fill_n(magnitude.begin(), row_count_ * width_, 0.0);
    // A block of a transposed A lies as its source does, so its strides are swapped.
    const bool t = check_.op_a == Op::kT;
    const std::int64_t a_row = t ? 1 : depth_, a_inner = t ? kRows : 1;
    for (std::int64_t p = 0; p < check_.k; p += kInner) {
      const std::int64_t inner = std::min(kInner, check_.k - p);
      read_a(p, inner);
      read_b(p, inner);
      const std::int64_t a_count = t ? inner * kRows : row_count_ * depth_;
      const std::int64_t b_count = inner * width_;
      if (exponent != 0) {
        scale(exponent, a_count, s_.a);
        scale(exponent, b_count, s_.b);
      }
      sizes(s_.a, a_count, s_.a_size);
      sizes(s_.b, b_count, s_.b_size);
      add_product(row_count_, inner, width_, s_.a.data(), a_row, a_inner, s_.b.data(), width_,
                  sum.data(), width_);
      add_product(row_count_, inner, width_, s_.a_size.data(), a_row, a_inner, s_.b_size.data(),
                  width_, magnitude.data(), width_);
    }
  }

  bool contiguous() const { return rows_[row_count_ - 1] - rows_[0] == row_count_ - 1; }

  void read_a(std::int64_t p, std::int64_t inner) {
    if (check_.op_a == Op::kN) {
      if (contiguous()) return check_.read_a(rows_[0], p, row_count_, inner, s_.a.data(), depth_);
      for (std::int64_t i = 0; i < row_count_; ++i) {
        check_.read_a(rows_[i], p, 1, inner, s_.a.data() + i * depth_, depth_);
      }
      return;
    }
    if (contiguous()) return check_.read_a(rows_[0], p, row_count_, inner, s_.a.data(), kRows);
    for (std::int64_t i = 0; i < row_count_; ++i) {
      check_.read_a(rows_[i], p, 1, inner, s_.source.data(), 8);
      for (std::int64_t q = 0; q < inner; ++q) s_.a[q * kRows + i] = s_.source[q * 8];
    }
  }

  void read_b(std::int64_t p, std::int64_t inner) {
    if (check_.op_b == Op::kN) return check_.read_b(p, col_, inner, cols_, s_.b.data(), width_);
    check_.read_b(p, col_, inner, cols_, s_.source.data(), kInner);
    std::fill_n(s_.b.begin(), inner * width_, 0.0);
    constexpr std::int64_t kStep = 8;  // a cache line of either side at a time
    for (std::int64_t j0 = 0; j0 < cols_; j0 += kStep) {
      const std::int64_t j1 = std::min(j0 + kStep, cols_);
      for (std::int64_t q = 0; q < inner; ++q) {
        for (std::int64_t j = j0; j < j1; ++j) s_.b[q * width_ + j] = s_.source[j * kInner + q];
      }
    }
  }

  // What is not zero stays so: zero times infinity is NaN, a tiny number times infinity is not.
  static void scale(int exponent, std::int64_t count, std::vector<double>& x) {
    std::for_each_n(x.begin(), count, [exponent](double& v) {
      const double scaled = std::ldexp(v, exponent);
      v = scaled == 0 && v != 0 ? std::copysign(0x1p-1074, v) : scaled;
    });
  }

  // Magnitudes of the finite elements; NaN and infinities count nothing here.
  static void sizes(const std::vector<double>& x, std::int64_t count, std::vector<double>& out) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    std::transform(x.begin(), x.begin() + count, out.begin(), [](double v) {
      const double size = std::abs(v);
      return size <= kLargest ? size : 0;
    });
  }

  RecheckResult judge(bool overflowed) {
    RecheckResult result;
    // The blocks of A and B are done with and serve for C and C0.
    double* const all_c = s_.source.data();
    double* const all_c0 = s_.b.data();
    const bool adds = check_.beta != 0;
    // As few calls as may be: a source can cost more for a call than for a short row.
    const std::int64_t step = contiguous() ? row_count_ : 1;
    for (std::int64_t i = 0; i < row_count_; i += step) {
      check_.read_c(rows_[i], col_, step, cols_, all_c + i * width_, width_);
      if (adds) check_.read_c0(rows_[i], col_, step, cols_, all_c0 + i * width_, width_);
    }
    for (std::int64_t i = 0; i < row_count_; ++i) {
      const double* const c = all_c + i * width_;
      const double* const c0 = all_c0 + i * width_;
      for (std::int64_t j = 0; j < cols_; ++j) {
        const std::size_t at = static_cast<std::size_t>(i * width_ + j);
        Dot dot{s_.sum[at], s_.magnitude[at], 0};
        if (overflowed && std::isinf(dot.magnitude)) {
          dot = {s_.scaled_sum[at], s_.scaled_magnitude[at], -2 * kScaleExponent};
        }
        const Verdict v = check_.model.judge(dot, adds ? c0[j] : 0, c[j]);
        result.worst_ratio = std::max(result.worst_ratio, v.ratio);
        result.largest_detectable = std::max(result.largest_detectable, v.detectable);
        if (!v.ok && result.row < 0) {
          result.row = rows_[i];
          result.col = col_ + j;
          result.got = c[j];
          result.verdict = v;
        }
      }
    }
    return result;
  }

  const Check& check_;
  Scratch& s_;
  const std::int64_t* rows_;
  std::int64_t row_count_, col_, cols_;
  std::int64_t width_;  // of rows of B and of the sums: no more is touched than there is
  std::int64_t depth_;  // of rows of A
};

void merge(const RecheckResult& part, RecheckResult& whole) {
  whole.worst_ratio = std::max(whole.worst_ratio, part.worst_ratio);
  whole.largest_detectable = std::max(whole.largest_detectable, part.largest_detectable);
  const bool earlier = part.row >= 0 && (whole.row < 0 || part.row < whole.row ||
                                         (part.row == whole.row && part.col < whole.col));
  if (!earlier) return;
  whole.row = part.row;
  whole.col = part.col;
  whole.got = part.got;
  whole.verdict = part.verdict;
}

}  // namespace

RecheckResult recheck(const Check& check, Runner& runner, const std::vector<std::int64_t>* rows,
                      const std::vector<std::int64_t>& column_blocks) {
  RecheckResult result;
  const std::int64_t row_count = rows ? static_cast<std::int64_t>(rows->size()) : check.m;
  const std::int64_t blocks = static_cast<std::int64_t>(column_blocks.size());
  const std::int64_t groups = ceil_div(row_count, kRows);
  const std::int64_t wave =
      std::max<std::int64_t>(1, kWaveTasks / std::max<std::int64_t>(1, blocks));
  std::vector<Scratch> scratch(static_cast<std::size_t>(runner.threads()));
  for (std::int64_t g0 = 0; g0 < groups && result.row < 0; g0 += wave) {
    const std::int64_t g1 = std::min(groups, g0 + wave);
    const std::int64_t tasks = (g1 - g0) * blocks;
    std::vector<RecheckResult> parts(static_cast<std::size_t>(tasks));
    runner.run(tasks, static_cast<double>(g1 - g0), [&](std::int64_t task, int worker) {
      const std::int64_t first = (g0 + task / blocks) * kRows;
      const std::int64_t count = std::min(kRows, row_count - first);
      std::array<std::int64_t, kRows> group{};
      std::iota(group.begin(), group.end(), first);
      if (rows) std::copy_n(rows->begin() + first, count, group.begin());
      Tile tile(check, scratch[static_cast<std::size_t>(worker)], group.data(), count,
                column_blocks[static_cast<std::size_t>(task % blocks)] * kColumnBlock);
      parts[static_cast<std::size_t>(task)] = tile.run();
    });
    for (const RecheckResult& part : parts) merge(part, result);
    result.rows += std::min(row_count, g1 * kRows) - g0 * kRows;
  }
  return result;
}

}  // namespace tessera::verify_detail
