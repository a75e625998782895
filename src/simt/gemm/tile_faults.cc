// Faults inside tiles and at their edges.
#include <fmt/format.h>

#include "simt/gemm/faults.h"

namespace tessera::simt {
namespace {

/// Elements by row and column; 0 outside, as a guarded load stores.
double guarded(const std::vector<double>& matrix, std::int64_t rows, std::int64_t columns,
               std::int64_t i, std::int64_t j) {
  if (i >= rows || j >= columns) return 0;
  return matrix[static_cast<std::size_t>(i * columns + j)];
}

class Tiles {
 public:
  explicit Tiles(const Evidence& e) : e_(e), x_(e.product()) {}

  std::vector<Fault> inside() {
    if (!x_.is_tiled) return {};
    for (std::int64_t t : likely_tiles(x_)) {
      transposed(t);
      stuck(t);
    }
    return std::move(out_);
  }

  std::vector<Fault> edges() {
    if (!x_.is_tiled) return {};
    for (std::int64_t t : likely_tiles(x_)) {
      if (x_.n % t != 0) edge_columns(t);
      if (x_.m % t != 0) edge_rows(t);
      if (x_.n % t != 0 && x_.m % t != 0) edge_both(t);
    }
    return std::move(out_);
  }

 private:
  template <class A, class B>
  void add(const std::string& what, const std::string& remedy, const std::string& array, A a, B b) {
    out_.push_back(
        {what, remedy, array,
         product_of(
             e_, x_.k, [a](std::int64_t i, std::int64_t p) { return std::optional(a(i, p)); },
             [b](std::int64_t p, std::int64_t j) { return std::optional(b(p, j)); })});
  }

  auto plain_a() const {
    return [&x = x_](std::int64_t i, std::int64_t p) { return guarded(x.a, x.m, x.k, i, p); };
  }
  auto plain_b() const {
    return [&x = x_](std::int64_t p, std::int64_t j) { return guarded(x.b, x.k, x.n, p, j); };
  }

  void transposed(std::int64_t t) {
    const auto swap_a = [&x = x_, t](std::int64_t i, std::int64_t p) {
      return guarded(x.a, x.m, x.k, i / t * t + p % t, p / t * t + i % t);
    };
    const auto swap_b = [&x = x_, t](std::int64_t p, std::int64_t j) {
      return guarded(x.b, x.k, x.n, p / t * t + j % t, j / t * t + p % t);
    };
    const auto say = [t](const std::string& name) {
      return fmt::format("the {0} x {0} tiles of {1} are transposed", t, name);
    };
    const auto remedy = [](const std::string& name, const char* index) {
      return fmt::format(
          "exchange the indices of the tile of {} where it is stored or where it is "
          "read: the product needs {}",
          name, index);
    };
    add(say(x_.name_a), remedy(x_.name_a, "[ty][p]"), x_.name_a, swap_a, plain_b());
    add(say(x_.name_b), remedy(x_.name_b, "[p][tx]"), x_.name_b, plain_a(), swap_b);
    add(fmt::format("the {0} x {0} tiles of {1} and {2} are transposed", t, x_.name_a, x_.name_b),
        remedy(x_.name_a, "[ty][p]") + ", and of " + x_.name_b + " [p][tx]", x_.name_a, swap_a,
        swap_b);
  }

  /// The first tile again in every step.
  void stuck(std::int64_t t) {
    if (t >= x_.k) return;
    const auto same_a = [&x = x_, t](std::int64_t i, std::int64_t p) {
      return guarded(x.a, x.m, x.k, i, p % t);
    };
    const auto same_b = [&x = x_, t](std::int64_t p, std::int64_t j) {
      return guarded(x.b, x.k, x.n, p % t, j);
    };
    const auto say = [](const std::string& name) {
      return fmt::format("every K step uses the first tile of {}", name);
    };
    add(say(x_.name_a), fmt::format("load {}[row * K + t * {} + tx]", x_.name_a, t), x_.name_a,
        same_a, plain_b());
    add(say(x_.name_b), fmt::format("load {}[(t * {} + ty) * N + col]", x_.name_b, t), x_.name_b,
        plain_a(), same_b);
    add(say(x_.name_a) + " and of " + x_.name_b, "add t * T to the K index of both loads",
        x_.name_a, same_a, same_b);
  }

  std::string remedy_a() const {
    return fmt::format(
        "guard the load of {} with row < M && t*T + tx < K, which are its own "
        "bounds, and store 0 otherwise; let no thread return before the last "
        "barrier",
        x_.name_a);
  }
  std::string remedy_b() const {
    return fmt::format(
        "guard the load of {} with t*T + ty < K && col < N, which are its own "
        "bounds, and store 0 otherwise; let no thread return before the last "
        "barrier",
        x_.name_b);
  }

  // Threads whose column lies outside C load nothing: behind column n % t of the last tile of
  // columns, the columns of the tile of A are missing.
  void edge_columns(std::int64_t t) {
    const std::int64_t edge = x_.n / t * t, rest = x_.n % t;
    partial(t,
            fmt::format("in the last tile of columns, {} on, each {} terms of {} are cut to {}: "
                        "the load of {} is under the guard of a column of {}",
                        edge, t, x_.name_a, rest, x_.name_a, x_.name_c),
            remedy_a(), x_.name_a, [edge, rest, t](std::int64_t, std::int64_t p, std::int64_t j) {
              return j < edge || p % t < rest;
            });
  }
  void edge_rows(std::int64_t t) {
    const std::int64_t edge = x_.m / t * t, rest = x_.m % t;
    partial(t,
            fmt::format("in the last tile of rows, {} on, each {} terms of {} are cut to {}: "
                        "the load of {} is under the guard of a row of {}",
                        edge, t, x_.name_b, rest, x_.name_b, x_.name_c),
            remedy_b(), x_.name_b, [edge, rest, t](std::int64_t i, std::int64_t p, std::int64_t) {
              return i < edge || p % t < rest;
            });
  }
  void edge_both(std::int64_t t) {
    const std::int64_t columns = x_.n / t * t, rows = x_.m / t * t;
    const std::int64_t rest_n = x_.n % t, rest_m = x_.m % t;
    partial(t,
            fmt::format("in the last tiles of rows and columns, parts of each {} terms are cut: "
                        "the loads of {} and {} are under the guard of {}",
                        t, x_.name_a, x_.name_b, x_.name_c),
            remedy_a() + "; likewise " + x_.name_b + " with t*T + ty < K && col < N", x_.name_a,
            [=](std::int64_t i, std::int64_t p, std::int64_t j) {
              return (j < columns || p % t < rest_n) && (i < rows || p % t < rest_m);
            });
  }

  template <class Takes>
  void partial(std::int64_t, const std::string& what, const std::string& remedy,
               const std::string& array, Takes takes) {
    const Evidence& e = e_;
    out_.push_back({what, remedy, array,
                    [&e, takes](std::int64_t i, std::int64_t j) -> std::optional<Predicted> {
                      const Product& x = e.product();
                      Sum sum;
                      for (std::int64_t p = 0; p < x.k; ++p) {
                        if (!takes(i, p, j)) continue;
                        sum.add(x.a[static_cast<std::size_t>(i * x.k + p)],
                                x.b[static_cast<std::size_t>(p * x.n + j)]);
                      }
                      return e.scaled(sum.value, sum.magnitude, i, j);
                    }});
  }

  const Evidence& e_;
  const Product& x_;
  std::vector<Fault> out_;
};

}  // namespace

std::vector<Fault> tile_faults(const Evidence& e) { return Tiles(e).inside(); }
std::vector<Fault> edge_faults(const Evidence& e) { return Tiles(e).edges(); }

std::vector<Fault> carry_faults(const Evidence& e) {
  const Product& x = e.product();
  std::vector<Fault> out;
  const auto add = [&](std::int64_t t, std::int64_t factor, bool down) {
    const std::int64_t size = down ? x.m : x.n;
    if (size <= t) return;
    out.push_back(
        {fmt::format("sums go on from the element {} {} {}: the accumulator is not cleared between "
                     "the elements of one thread",
                     t, t == 1 ? (down ? "row" : "column") : (down ? "rows" : "columns"),
                     down ? "above" : "to the left"),
         "clear the accumulator before each element that the thread computes", x.name_c,
         [&e, t, factor, down](std::int64_t i, std::int64_t j) {
           const std::int64_t line = down ? i : j;
           // The first line of the thread that holds this one.
           const std::int64_t group = t * factor;
           const std::int64_t first = factor == 0 ? line % t : line / group * group + line % t;
           Sum sum;
           for (std::int64_t l = first; l <= line; l += t) {
             sum.value += down ? e.sum(l, j) : e.sum(i, l);
             sum.magnitude += down ? e.size(l, j) : e.size(i, l);
           }
           return std::optional(e.scaled(sum.value, sum.magnitude, i, j));
         }});
  };
  std::vector<std::int64_t> steps = likely_tiles(x);
  steps.push_back(1);
  for (std::int64_t t : steps) {
    for (std::int64_t factor : {0, 2, 4, 8}) {
      add(t, factor, false);
      add(t, factor, true);
    }
  }
  return out;
}

std::vector<Fault> precision_faults(const Evidence& e) {
  const Product& x = e.product();
  if (x.element != "float" && x.element != "double") return {};
  // Two roundings to 11 bits a term.
  constexpr double kRelative = 1.0 / 1024;
  for (std::int64_t w : e.wrong()) {
    const std::int64_t i = w / x.n, j = w % x.n;
    const Predicted right = e.expected(i, j);
    if (!(std::fabs(e.c(i, j) - right.value) <= kRelative * right.magnitude)) return {};
  }
  return {{"it is right to 11 bits only, as if the operands were rounded to TF32 or half",
           "multiply and add in " + x.element + ", and convert only what is stored", x.name_c,
           [&e](std::int64_t i, std::int64_t j) {
             return std::optional(Predicted{e.c(i, j), 0});
           },
           true}};
}

}  // namespace tessera::simt
