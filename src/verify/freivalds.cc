#include "verify/freivalds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/block_product.h"
#include "verify/recheck.h"
#include "verify/signs.h"

namespace tessera::verify_detail {
namespace {

constexpr std::int64_t kRows = 64;        // rows of op(A), op(B) or C in one task
constexpr std::int64_t kCols = 512;       // length of a piece of a row that is read at once
constexpr std::int64_t kInner = 128;      // of that, as many columns as keep their signs in L1
constexpr std::int64_t kLd = kCols + 8;   // not a power of two: rows must not share a cache set
constexpr std::int64_t kLdT = kRows + 8;  // the same for a block read transposed
constexpr std::int64_t kWaveTasks = 64;   // tasks between two calls of progress
constexpr std::int64_t kStripe = kRows * kWaveTasks;
constexpr std::int64_t kGroup = 64 * kStripe;  // rows whose residuals are held and judged together
constexpr std::int64_t kSumsRoom = 1 << 21;    // doubles that column sums of one wave may take
constexpr std::int64_t kPanel = 16384;         // of k, when B X is not kept whole
constexpr std::int64_t kKeptPanel = 65536;

// Spare sign vectors that only calibrate the threshold. They must not be the ones that are judged:
// see docs/verify.md.
constexpr int kCalibrating = 4;
// Rounding noise of a right row is at most about the weight (docs/verify.md), so beyond kCap times
// that nothing is noise; and beyond kSigmas times the largest calibrated noise.
constexpr double kCap = 4, kSigmas = 8;
// Rows the calibration disregards, since they may be the wrong ones: at most this many, and at most
// one in kOutlierShare.
constexpr std::int64_t kOutliers = 32, kOutlierShare = 8;

struct Row {
  double residual = 0;     ///< largest |r| over the judged rounds
  double calibration = 0;  ///< root mean square of r over the calibrating rounds
  double weight = 0;       ///< expected size of rounding noise, an upper estimate
  double fp64_error = 0;   ///< most that rounding can change r by in this check
  double bound = 0;        ///< most that a right element can be off, by the row's norms
  bool usable = false;     ///< all of the above finite
};

// The norm of `count` numbers from the sum of their squares, not below the true one: each square
// may have lost a subnormal to underflow, and the sum its last bits.
double norm(double squares, double count) {
  return std::sqrt(squares + count * 0x1p-1074) * (1 + growth(count + 2, 0x1p-53));
}

struct Scratch {
  std::vector<double> block, signs, z, c, c0;
};

class Screen {
 public:
  Screen(const Check& check, Runner& runner, int rounds, std::uint64_t seed)
      : check_(check),
        runner_(runner),
        rounds_(rounds),
        columns_(round_up(rounds + kCalibrating, 8)),
        signs_(seed, columns_),
        scratch_(static_cast<std::size_t>(runner.threads())) {
    const std::size_t block = static_cast<std::size_t>(std::max(kRows * kLd, kCols * kLdT));
    for (Scratch& s : scratch_) {
      s.block.resize(block);
      s.signs.resize(static_cast<std::size_t>(kInner * columns_));
      s.c.resize(static_cast<std::size_t>(kRows * columns_));
      s.c0.resize(s.c.size());
    }
  }

  Screening run() {
    const double m = static_cast<double>(check_.m), n = static_cast<double>(check_.n);
    const double k = static_cast<double>(check_.k);
    // Either B X is kept for all of k, or the sums over k for all of m: whichever is smaller.
    const bool keep = check_.k <= std::max(check_.m, kKeptPanel);
    const std::int64_t panel = keep ? check_.k : kPanel;
    const std::int64_t stripe = keep ? kStripe : check_.m;
    const std::int64_t group = keep ? kGroup : check_.m;
    runner_.begin_phase(0.9, n * k * (keep ? 1 : 2) + m * k + m * n * (check_.beta != 0 ? 2 : 1));

    col_squares_.assign(static_cast<std::size_t>(round_up(check_.n, 8)), 0.0);
    for (std::int64_t p = 0; p < check_.k; p += panel) {
      product_b(p, std::min(panel, check_.k - p), true);
    }
    const bool skips = find_skipped_columns();
    Screening out;
    out.column_blocks = skipped_blocks();
    for (std::int64_t i = 0; i < check_.m; i += stripe) {
      const std::int64_t i_count = std::min(stripe, check_.m - i);
      if (i % group == 0) {
        first_row_ = i;
        rows_.assign(static_cast<std::size_t>(std::min(group, check_.m - i)), Row{});
      }
      z_.assign(static_cast<std::size_t>(i_count * columns_), 0.0);
      row_squares_.assign(static_cast<std::size_t>(round_up(i_count, kRows)), 0.0);
      for (std::int64_t p = 0; p < check_.k; p += panel) {
        const std::int64_t p_count = std::min(panel, check_.k - p);
        if (!keep || (skips && i == 0)) product_b(p, p_count, false);
        product_a(i, i_count, p, p_count);
      }
      finish_rows(i, i_count);
      if (i + i_count == first_row_ + static_cast<std::int64_t>(rows_.size())) select(out);
    }
    return out;
  }

 private:
  static std::int64_t tasks_for(std::int64_t rows) { return ceil_div(rows, kRows); }

  // acc += block * signs, for columns j0 .. j0 + count of the vectors; element (i, j) of the block
  // at block[i * row_step + j * col_step].
  void add_signed(Scratch& s, std::int64_t rows, std::int64_t j0, std::int64_t count,
                  std::int64_t row_step, std::int64_t col_step, double* acc) const {
    for (std::int64_t j = 0; j < count; j += kInner) {
      const std::int64_t inner = std::min(kInner, count - j);
      signs_.expand(j0 + j, inner, skip_, s.signs.data());
      add_product(rows, inner, columns_, s.block.data() + j * col_step, row_step, col_step,
                  s.signs.data(), columns_, acc, columns_);
    }
  }

  // y_ = op(B) X for rows p .. p + count, and when `sums` the column sums of squares of B. The sums
  // of a task are kept apart and added in order, so that they do not depend on the threads.
  void product_b(std::int64_t p, std::int64_t count, bool sums) {
    const std::int64_t width = round_up(check_.n, 8);
    const std::int64_t wave =
        sums ? std::clamp<std::int64_t>(kSumsRoom / width, 1, kWaveTasks) : kWaveTasks;
    y_.assign(static_cast<std::size_t>(count * columns_), 0.0);
    for (std::int64_t t0 = 0; t0 < tasks_for(count); t0 += wave) {
      const std::int64_t tasks = std::min(wave, tasks_for(count) - t0);
      if (sums) task_sums_.assign(static_cast<std::size_t>(tasks * width), 0.0);
      const double rows = static_cast<double>(std::min(count, (t0 + tasks) * kRows) - t0 * kRows);
      runner_.run(tasks, rows * static_cast<double>(check_.n), [&](std::int64_t task, int worker) {
        const std::int64_t q = (t0 + task) * kRows;
        rows_of_b(scratch_[static_cast<std::size_t>(worker)], p + q, std::min(kRows, count - q),
                  y_.data() + q * columns_, sums ? task_sums_.data() + task * width : nullptr);
      });
      for (std::int64_t task = 0; sums && task < tasks; ++task) {
        const double* from = task_sums_.data() + task * width;
        for (std::int64_t j = 0; j < width; ++j)
          col_squares_[static_cast<std::size_t>(j)] += from[j];
      }
    }
  }

  void rows_of_b(Scratch& s, std::int64_t p, std::int64_t rows, double* y, double* sums) const {
    double* block = s.block.data();
    for (std::int64_t j = 0; j < check_.n; j += kCols) {
      const std::int64_t cols = std::min(kCols, check_.n - j);
      if (check_.op_b == Op::kN) {
        check_.read_b(p, j, rows, cols, block, kLd);
        if (sums) add_col_squares(rows, round_up(cols, 8), block, kLd, sums + j);
        clear_skipped_columns(rows, j, cols, block);
        add_signed(s, rows, j, cols, kLd, 1, y);
      } else {
        check_.read_b(p, j, rows, cols, block, kLdT);
        if (sums) add_row_squares(cols, round_up(rows, 8), block, kLdT, sums + j);
        for (std::int64_t c = 0; c < cols; ++c) {
          if (skipped(j + c)) std::fill_n(block + c * kLdT, kLdT, 0.0);
        }
        add_signed(s, rows, j, cols, 1, kLdT, y);
      }
    }
  }

  bool skipped(std::int64_t j) const {
    return !skip_.empty() && skip_[static_cast<std::size_t>(j)] != 0;
  }

  void clear_skipped_columns(std::int64_t rows, std::int64_t j0, std::int64_t cols,
                             double* block) const {
    for (std::int64_t j = 0; j < cols && !skip_.empty(); ++j) {
      if (!skipped(j0 + j)) continue;
      for (std::int64_t i = 0; i < rows; ++i) block[i * kLd + j] = 0;
    }
  }

  // Columns of B with a NaN, an infinity, or numbers whose squares overflow take no part in the
  // sums; every one of their elements is rechecked.
  bool find_skipped_columns() {
    double total = 0, largest = 0;
    bool any = false;
    std::vector<unsigned char> skip(static_cast<std::size_t>(check_.n), 0);
    for (std::size_t j = 0; j < skip.size(); ++j) {
      if (std::isfinite(col_squares_[j])) {
        total += col_squares_[j];
        largest = std::max(largest, col_squares_[j]);
      } else {
        skip[j] = 1;
        any = true;
      }
    }
    if (any) skip_ = std::move(skip);
    const double k = static_cast<double>(check_.k);
    b_norm_ = norm(total, k * static_cast<double>(check_.n));
    b_column_norm_ = norm(largest, k);
    return any;
  }

  // z_ += op(A) Y over columns p .. p + p_count of op(A).
  void product_a(std::int64_t i, std::int64_t i_count, std::int64_t p, std::int64_t p_count) {
    const std::int64_t all = tasks_for(i_count);
    for (std::int64_t t0 = 0; t0 < all; t0 += kWaveTasks) {
      const std::int64_t tasks = std::min(kWaveTasks, all - t0);
      const double rows = static_cast<double>(std::min(i_count, (t0 + tasks) * kRows) - t0 * kRows);
      runner_.run(tasks, rows * static_cast<double>(p_count), [&](std::int64_t task, int worker) {
        const std::int64_t r = (t0 + task) * kRows;
        rows_of_a(scratch_[static_cast<std::size_t>(worker)], i + r, std::min(kRows, i_count - r),
                  p, p_count, z_.data() + r * columns_, row_squares_.data() + r);
      });
    }
  }

  void rows_of_a(Scratch& s, std::int64_t i, std::int64_t rows, std::int64_t p,
                 std::int64_t p_count, double* z, double* squares) const {
    double* block = s.block.data();
    const bool t = check_.op_a == Op::kT;
    const std::int64_t ld = t ? kLdT : kLd;
    const std::int64_t row_step = t ? 1 : ld, col_step = t ? ld : 1;
    for (std::int64_t q = 0; q < p_count; q += kCols) {
      const std::int64_t cols = std::min(kCols, p_count - q);
      check_.read_a(i, p + q, rows, cols, block, ld);
      if (t) {
        add_col_squares(cols, round_up(rows, 8), block, ld, squares);
      } else {
        add_row_squares(rows, round_up(cols, 8), block, ld, squares);
      }
      for (std::int64_t c = 0; c < cols; c += kInner) {
        add_product(rows, std::min(kInner, cols - c), columns_, block + c * col_step, row_step,
                    col_step, y_.data() + (q + c) * columns_, columns_, z, columns_);
      }
    }
  }

  void finish_rows(std::int64_t i, std::int64_t i_count) {
    const std::int64_t all = tasks_for(i_count);
    const double per_row = static_cast<double>(check_.n) * (check_.beta != 0 ? 2 : 1);
    for (std::int64_t t0 = 0; t0 < all; t0 += kWaveTasks) {
      const std::int64_t tasks = std::min(kWaveTasks, all - t0);
      const double rows = static_cast<double>(std::min(i_count, (t0 + tasks) * kRows) - t0 * kRows);
      runner_.run(tasks, rows * per_row, [&](std::int64_t task, int worker) {
        const std::int64_t r = (t0 + task) * kRows;
        rows_of_c(scratch_[static_cast<std::size_t>(worker)], i + r, std::min(kRows, i_count - r),
                  z_.data() + r * columns_, row_squares_.data() + r);
      });
    }
  }

  void rows_of_c(Scratch& s, std::int64_t i, std::int64_t rows, const double* z,
                 const double* a_squares) {
    double c_squares[kRows] = {}, c0_squares[kRows] = {};
    std::fill(s.c.begin(), s.c.end(), 0.0);
    std::fill(s.c0.begin(), s.c0.end(), 0.0);
    for (std::int64_t j = 0; j < check_.n; j += kCols) {
      const std::int64_t cols = std::min(kCols, check_.n - j);
      check_.read_c(i, j, rows, cols, s.block.data(), kLd);
      add_signed_rows(s, rows, j, cols, s.c.data(), c_squares);
      if (check_.beta == 0) continue;
      check_.read_c0(i, j, rows, cols, s.block.data(), kLd);
      add_signed_rows(s, rows, j, cols, s.c0.data(), c0_squares);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      Row& row = rows_[static_cast<std::size_t>(i - first_row_ + r)];
      weigh(a_squares[r], c_squares[r], c0_squares[r], row);
      measure(s.c.data() + r * columns_, z + r * columns_, s.c0.data() + r * columns_, row);
    }
  }

  void add_signed_rows(Scratch& s, std::int64_t rows, std::int64_t j, std::int64_t cols,
                       double* acc, double* squares) const {
    clear_skipped_columns(rows, j, cols, s.block.data());
    add_row_squares(rows, round_up(cols, 8), s.block.data(), kLd, squares);
    add_signed(s, rows, j, cols, kLd, 1, acc);
  }

  // docs/verify.md, "Thresholds".
  void weigh(double a_squares, double c_squares, double c0_squares, Row& row) const {
    const double n = static_cast<double>(check_.n), k = static_cast<double>(check_.k);
    const ErrorModel& model = check_.model;
    const double a_norm = std::abs(check_.alpha) * norm(a_squares, k);
    const double c_norm = norm(c_squares, n);
    const double c0_norm = std::abs(check_.beta) * norm(c0_squares, n);
    const double all = a_norm * b_norm_ + c0_norm;
    constexpr double kU64 = 0x1p-53;
    row.weight = model.roundoff() * std::sqrt(k + 1) * all + model.storage_roundoff() * c_norm +
                 kU64 * std::sqrt(n + k) * (c_norm + all) + std::sqrt(n) * model.underflow();
    row.fp64_error = growth(n + k + 16, kU64) * std::sqrt(n) * (c_norm + all) +
                     (std::abs(check_.alpha) * k + 4) * 0x1p-1074;
    const double magnitude = a_norm * b_column_norm_ + c0_norm;
    row.bound = model.bound(magnitude, magnitude) + model.reference_error(magnitude);
  }

  void measure(const double* c, const double* z, const double* c0, Row& row) const {
    double largest = 0, squares = 0;
    bool finite = true;
    for (std::int64_t r = 0; r < columns_; ++r) {
      const double residual = c[r] - check_.alpha * z[r] - check_.beta * c0[r];
      finite = finite && std::isfinite(residual);
      if (r < rounds_) {
        largest = std::max(largest, std::abs(residual));
      } else {
        squares += residual * residual;
      }
    }
    row.residual = largest;
    row.calibration = std::sqrt(squares / static_cast<double>(columns_ - rounds_));
    row.usable = finite && std::isfinite(row.calibration) && std::isfinite(row.weight) &&
                 std::isfinite(row.fp64_error) && std::isfinite(row.bound);
  }

  // The factor on the weights: kSigmas times the noise that all but the worst few rows stay within,
  // as the calibrating vectors saw it, but no more than kCap. Those worst few are rechecked when
  // they stand out.
  void select(Screening& out) const {
    std::vector<double> noise;
    noise.reserve(rows_.size());
    for (const Row& row : rows_) {
      if (row.usable) noise.push_back(row.calibration / row.weight);
    }
    std::sort(noise.begin(), noise.end(), std::greater<>());
    const std::int64_t count = static_cast<std::int64_t>(noise.size());
    const std::size_t outliers =
        static_cast<std::size_t>(std::min(kOutliers, count / kOutlierShare));
    const double factor = noise.empty() ? 0 : std::min(kCap, kSigmas * noise[outliers]);
    const double median = noise.empty() ? 0 : noise[noise.size() / 2];
    const double stands_out = noise.empty() ? 0 : std::max(kSigmas * median, noise[outliers]);

    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const double threshold = factor * row.weight;
      const bool passes =
          row.usable && row.residual <= threshold && row.calibration / row.weight <= stands_out;
      if (row.usable) {
        out.detectable_error =
            std::max({out.detectable_error, threshold + row.fp64_error, row.bound});
      }
      if (!passes) {
        out.rows.push_back(first_row_ + static_cast<std::int64_t>(i));
      } else if (row.residual > 0) {
        out.worst_ratio = std::max(out.worst_ratio, row.residual / threshold);
      }
    }
  }

  // Blocks with a column that takes no part in the sums.
  std::vector<std::int64_t> skipped_blocks() const {
    std::vector<std::int64_t> blocks;
    for (std::int64_t block = 0; block * kColumnBlock < check_.n; ++block) {
      const std::int64_t end = std::min(check_.n, (block + 1) * kColumnBlock);
      bool any = false;
      for (std::int64_t j = block * kColumnBlock; j < end; ++j) any = any || skipped(j);
      if (any) blocks.push_back(block);
    }
    return blocks;
  }

  const Check& check_;
  Runner& runner_;
  std::int64_t rounds_, columns_;
  Signs signs_;
  std::vector<Scratch> scratch_;
  std::vector<Row> rows_;  // of the group that begins at first_row_
  std::int64_t first_row_ = 0;
  std::vector<unsigned char> skip_;  // one flag per column of C; empty when none is set
  std::vector<double> col_squares_, task_sums_, y_, z_, row_squares_;
  double b_norm_ = 0, b_column_norm_ = 0;
};

}  // namespace

Screening screen(const Check& check, Runner& runner, int rounds, std::uint64_t seed) {
  return Screen(check, runner, rounds, seed).run();
}

}  // namespace tessera::verify_detail
