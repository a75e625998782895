// K rounded up to whole tiles. Past the end of a row of A lies its next row, which is known; past
// the end of B lies memory that is not. But all rows of C meet the same memory: in each column of
// C, error(i) = sum over r of a_next(i, r) * x(r) with few unknowns x and many rows. When unknowns
// solved from some rows fit all others, that is what happened.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simt/gemm/faults.h"

namespace tessera::simt {
namespace {

using Row = std::vector<double>;

/// Solves a square system by elimination with pivots; false when it is singular.
bool solve(std::vector<Row> a, Row& x) {
  const std::size_t n = a.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r) {
      if (std::fabs(a[r][c]) > std::fabs(a[pivot][c])) pivot = r;
    }
    if (!(std::fabs(a[pivot][c]) > 1e-12)) return false;
    std::swap(a[c], a[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = a[r][c] / a[c][c];
      for (std::size_t q = c; q <= n; ++q) a[r][q] -= factor * a[c][q];
    }
  }
  x.assign(n, 0);
  for (std::size_t c = n; c-- > 0;) {
    double rest = a[c][n];
    for (std::size_t q = c + 1; q < n; ++q) rest -= a[c][q] * x[q];
    x[c] = rest / a[c][c];
  }
  return true;
}

class Overrun {
 public:
  Overrun(const Evidence& e, std::int64_t excess) : e_(e), x_(e.product()), excess_(excess) {}

  bool explains() const {
    const std::int64_t rows = x_.m - 1;  // the last has no next row
    if (rows < excess_ + 3 || x_.alpha == 0) return false;
    constexpr std::int64_t kColumns = 8;
    const std::int64_t step = std::max<std::int64_t>(1, x_.n / kColumns);
    bool any = false;
    for (std::int64_t j = 0; j < x_.n; j += step) {
      if (!column_fits(j)) return false;
      any = true;
    }
    return any;
  }

 private:
  double next(std::int64_t i, std::int64_t r) const {
    return x_.a[static_cast<std::size_t>((i + 1) * x_.k + r)];
  }
  double error(std::int64_t i, std::int64_t j) const {
    return (e_.c(i, j) - e_.expected(i, j).value) / x_.alpha;
  }

  bool column_fits(std::int64_t j) const {
    const auto size = static_cast<std::size_t>(excess_);
    // Least squares: every row has its say, so the errors of rounding average out.
    std::vector<Row> normal(size, Row(size + 1, 0.0));
    double largest = 0;
    for (std::int64_t i = 0; i + 1 < x_.m; ++i) {
      const double y = error(i, j);
      if (!std::isfinite(y)) return false;
      largest = std::max(largest, std::fabs(y));
      for (std::size_t r = 0; r < size; ++r) {
        const double a = next(i, static_cast<std::int64_t>(r));
        for (std::size_t q = 0; q < size; ++q) {
          normal[r][q] += a * next(i, static_cast<std::int64_t>(q));
        }
        normal[r][size] += a * y;
      }
    }
    Row unknown;
    if (!solve(normal, unknown)) return false;
    for (std::int64_t i = 0; i + 1 < x_.m; ++i) {
      double fitted = 0;
      for (std::size_t r = 0; r < size; ++r) {
        fitted += next(i, static_cast<std::int64_t>(r)) * unknown[r];
      }
      const double bound = 8 * e_.bound(e_.expected(i, j)) / std::fabs(x_.alpha);
      // A fit within a bound as large as the error proves nothing.
      if (!(std::fabs(fitted - error(i, j)) <= bound) || largest < 16 * bound) return false;
    }
    return true;
  }

  const Evidence& e_;
  const Product& x_;
  std::int64_t excess_;
};

}  // namespace

std::optional<Fault> overrun_fault(const Evidence& e) {
  const Product& x = e.product();
  if (x.element == "int") return {};
  for (std::int64_t t : likely_tiles(x)) {
    const std::int64_t excess = (t - x.k % t) % t;
    if (excess == 0 || excess > x.k || !Overrun(e, excess).explains()) continue;
    return Fault{
        fmt::format("the sum runs on to K = {}, whole tiles of {}: {} is read past column {} into "
                    "its next row, and {} past its last row",
                    x.k + excess, t, x.name_a, x.k - 1, x.name_b),
        fmt::format("guard the load of {} with t*T + tx < K, and that of {} with t*T + ty < K, "
                    "and store 0 otherwise",
                    x.name_a, x.name_b),
        x.name_a,
        {},
        false};
  }
  return {};
}

}  // namespace tessera::simt
