// Faults of the loop over K. A weight for each term of the sum tells them all: 0 for a term left
// out, 2 for one taken twice.
#include <fmt/format.h>

#include <algorithm>

#include "simt/gemm/faults.h"

namespace tessera::simt {
namespace {

/// Terms [from, to) change their weight by `change`.
struct Change {
  std::int64_t from, to;
  double change;
};

/// The running sums of a few wrong elements, so that thousands of ranges are soon told apart.
class RunningSums {
 public:
  explicit RunningSums(const Evidence& e) : e_(e) {
    constexpr std::size_t kElements = 8;
    const Product& x = e.product();
    const std::size_t step = std::max<std::size_t>(1, e.wrong().size() / kElements);
    for (std::size_t w = 0; w < e.wrong().size() && rows_.size() < kElements; w += step) {
      const std::int64_t i = e.wrong()[w] / x.n, j = e.wrong()[w] % x.n;
      std::vector<double> running(1, 0.0);
      for (std::int64_t p = 0; p < x.k; ++p) running.push_back(running.back() + term(i, p, j));
      const Predicted right = e.expected(i, j);
      rows_.push_back({std::move(running), (e.c(i, j) - right.value) / x.alpha,
                       4 * e.bound(right) / std::fabs(x.alpha)});
    }
  }

  bool allow(const Change& c) const {
    for (const Row& row : rows_) {
      const double moved = c.change * (row.running[static_cast<std::size_t>(c.to)] -
                                       row.running[static_cast<std::size_t>(c.from)]);
      if (!(std::fabs(row.error - moved) <= row.bound)) return false;
    }
    return !rows_.empty();
  }

 private:
  struct Row {
    std::vector<double> running;
    double error, bound;
  };
  double term(std::int64_t i, std::int64_t p, std::int64_t j) const {
    const Product& x = e_.product();
    return x.a[static_cast<std::size_t>(i * x.k + p)] * x.b[static_cast<std::size_t>(p * x.n + j)];
  }
  const Evidence& e_;
  std::vector<Row> rows_;
};

class Depths {
 public:
  explicit Depths(const Evidence& e) : e_(e), x_(e.product()), tiles_(likely_tiles(x_)) {}

  std::vector<Fault> all() {
    ranges();
    strided();
    carried();
    return std::move(out_);
  }

 private:
  template <class Weight>
  void add(const std::string& what, const std::string& remedy, const std::string& array,
           Weight weight) {
    const Product& x = x_;
    out_.push_back({what, remedy, array,
                    product_of(
                        e_, x_.k,
                        [&x, weight](std::int64_t i, std::int64_t p) {
                          return std::optional(weight(p) *
                                               x.a[static_cast<std::size_t>(i * x.k + p)]);
                        },
                        [&x](std::int64_t p, std::int64_t j) {
                          return std::optional(x.b[static_cast<std::size_t>(p * x.n + j)]);
                        })});
  }

  void add(const Change& c, const std::string& what, const std::string& remedy) {
    add(what, remedy, x_.name_a,
        [c](std::int64_t p) { return p >= c.from && p < c.to ? 1 + c.change : 1.0; });
  }

  /// A tile size whose last, partial tile starts at `start`; 0: none.
  std::int64_t tile_with_tail_at(std::int64_t start) const {
    if (!x_.is_tiled) return 0;
    for (std::int64_t t : tiles_) {
      if (x_.k % t != 0 && x_.k / t * t == start) return t;
    }
    return 0;
  }
  /// A tile size of which [from, to) is one step; 0: none.
  std::int64_t tile_of(std::int64_t from, std::int64_t to) const {
    if (!x_.is_tiled) return 0;
    for (std::int64_t t : tiles_) {
      if (from % t == 0 && to == std::min(x_.k, from + t)) return t;
    }
    return 0;
  }

  static std::string terms(std::int64_t from, std::int64_t to) {
    return to - from == 1 ? fmt::format("p = {}", from) : fmt::format("p = {} to {}", from, to - 1);
  }

  void ranges() {
    if (x_.k == 0 || x_.alpha == 0) return;
    const RunningSums running(e_);
    for (std::int64_t q = x_.k - 1; q >= 1; --q) {
      if (running.allow({q, x_.k, -1})) dropped_end(q);
    }
    for (std::int64_t q = 1; q < x_.k; ++q) {
      if (running.allow({0, q, -1})) dropped_start(q);
    }
    for (std::int64_t p = 0; p < x_.k; ++p) changed_step(running, p, p + 1);
    for (std::int64_t t : tiles_) {
      for (std::int64_t p = 0; p < x_.k; p += t) changed_step(running, p, std::min(x_.k, p + t));
    }
  }

  void dropped_end(std::int64_t q) {
    const std::int64_t tail = tile_with_tail_at(q), first = tile_of(0, q);
    const std::string missing = fmt::format("terms {} of K = {} are missing", terms(q, x_.k), x_.k);
    const char* size = q == x_.n ? "N" : q == x_.m ? "M" : nullptr;
    if (tail > 0) {
      add({q, x_.k, -1},
          fmt::format("the tail of K is dropped: {}, as with K / {} whole tiles{}", missing, tail,
                      size ? fmt::format(", or a bound of {} in place of K", size) : ""),
          fmt::format("loop over (K + T - 1) / T tiles and guard the loads with t*T + tx < K "
                      "for {} and t*T + ty < K for {}, storing 0 otherwise",
                      x_.name_a, x_.name_b));
    } else if (size) {
      add({q, x_.k, -1}, fmt::format("{}: the sum ends at {}", missing, size),
          fmt::format("bound the loop over p and the loads by K, not by {}", size));
    } else if (first > 0) {
      add({q, x_.k, -1}, fmt::format("only the first K tile, {} terms, is in it", q),
          "loop over all (K + T - 1) / T tiles and advance both tiles by T each time");
    } else {
      add({q, x_.k, -1}, missing,
          "let the loop over p end at K, without -1, an early break or a step that leaves a rest");
    }
  }

  void dropped_start(std::int64_t q) {
    const std::string missing = fmt::format("terms {} of K = {} are missing", terms(0, q), x_.k);
    const bool last_tile = tile_of(q, x_.k) > 0;
    if (last_tile || q == x_.k - 1) {
      add({0, q, -1}, fmt::format("only the last K tile is in it: {}", missing),
          "declare the accumulator before the loop over tiles and add to it (+=) in every step");
    } else {
      add({0, q, -1}, missing, "start the loop over p at 0");
    }
  }

  void changed_step(const RunningSums& running, std::int64_t from, std::int64_t to) {
    const std::string step = tile_of(from, to) > 0 ? "the K tile " : "the K step ";
    if (running.allow({from, to, -1})) {
      add({from, to, -1}, step + terms(from, to) + " is skipped",
          "count the steps over K by one, and use each tile before loading the next");
    }
    if (running.allow({from, to, 1})) {
      add({from, to, 1}, step + terms(from, to) + " is added twice",
          "count the steps over K by one, and load a new tile in each");
    }
  }

  void strided() {
    for (std::int64_t t : tiles_) {
      if (t > x_.k) continue;
      const auto without = [t](std::int64_t r) {
        return [t, r](std::int64_t p) { return p % t == r ? 0.0 : 1.0; };
      };
      add(fmt::format("the last of every {} terms is missing", t),
          fmt::format("let the inner loop run to p < {}, not to p < {}", t, t - 1), x_.name_c,
          without(t - 1));
      add(fmt::format("the first of every {} terms is missing", t), "start the inner loop at p = 0",
          x_.name_c, without(0));
    }
  }

  /// C += acc in every step, with an accumulator that keeps the steps before.
  void carried() {
    for (std::int64_t t : tiles_) {
      const std::int64_t steps = (x_.k + t - 1) / t;
      if (steps < 2) continue;
      add(fmt::format("the accumulator is not cleared between tiles of {}: earlier tiles are added "
                      "again in every later step",
                      t),
          "add to C once, behind the loop over tiles, or clear the accumulator in every step",
          x_.name_c, [t, steps](std::int64_t p) { return static_cast<double>(steps - p / t); });
    }
  }

  const Evidence& e_;
  const Product& x_;
  std::vector<std::int64_t> tiles_;
  std::vector<Fault> out_;
};

}  // namespace

std::vector<Fault> depth_faults(const Evidence& e) { return Depths(e).all(); }

std::vector<std::int64_t> likely_tiles(const Product& x) {
  std::vector<std::int64_t> out;
  const auto add = [&](std::int64_t t) {
    if (t < 2 || t > 128 || std::find(out.begin(), out.end(), t) != out.end()) return;
    out.push_back(t);
  };
  add(x.block[0]);
  add(x.block[1]);
  // A grid of g blocks over s suggests tiles of ceil(s / g), rounded up to a multiple of 4.
  const auto suggested = [&](std::int64_t size, unsigned blocks) {
    if (blocks > 1) add((size + blocks - 1) / blocks);
    if (blocks > 1) add(((size + blocks - 1) / blocks + 3) / 4 * 4);
  };
  suggested(x.n, x.grid[0]);
  suggested(x.m, x.grid[1]);
  for (std::int64_t t : {16, 32, 8, 64, 128, 4, 2}) add(t);
  return out;
}

}  // namespace tessera::simt
