// Faults of addresses that concern a whole matrix.
#include <fmt/format.h>

#include "simt/gemm/faults.h"

namespace tessera::simt {
namespace {

class Layouts {
 public:
  explicit Layouts(const Evidence& e) : e_(e), x_(e.product()) {}

  std::vector<Fault> all() {
    transposed_result();
    reads();
    swapped();
    strides();
    shifts();
    return out_;
  }

 private:
  using At = std::function<std::optional<double>(std::int64_t, std::int64_t)>;

  At a_by(std::int64_t row_stride, std::int64_t column_stride) const {
    return [&x = x_, row_stride, column_stride](std::int64_t i, std::int64_t p) {
      return element(x.a, i * row_stride + p * column_stride);
    };
  }
  At b_by(std::int64_t row_stride, std::int64_t column_stride) const {
    return [&x = x_, row_stride, column_stride](std::int64_t p, std::int64_t j) {
      return element(x.b, p * row_stride + j * column_stride);
    };
  }
  void add(const std::string& what, const std::string& remedy, const std::string& array,
           Predict predict) {
    out_.push_back({what, remedy, array, std::move(predict)});
  }
  Predict product(const At& a, const At& b) const { return product_of(e_, x_.k, a, b); }

  void transposed_result() {
    const auto at = [&e = e_, &x = x_](std::int64_t r, std::int64_t s, std::int64_t i,
                                       std::int64_t j) -> std::optional<Predicted> {
      if (r < 0 || s < 0 || r >= x.m || s >= x.n) return {};
      return e.scaled(e.sum(r, s), e.size(r, s), i, j);
    };
    const std::string what = fmt::format("it is the transpose of {}*{}", x_.name_a, x_.name_b);
    const std::string remedy = fmt::format(
        "store to {}[row * N + col], with row and col in the roles that the loads give them",
        x_.name_c);
    const std::int64_t m = x_.m, n = x_.n;
    add(what, remedy, x_.name_c, [at](std::int64_t i, std::int64_t j) { return at(j, i, i, j); });
    if (m == n) return;
    add(what + ", stored by columns", remedy, x_.name_c,
        [at, m, n](std::int64_t i, std::int64_t j) {
          const std::int64_t address = i * n + j;
          return at(address % m, address / m, i, j);
        });
  }

  void reads() {
    const std::int64_t m = x_.m, n = x_.n, k = x_.k;
    const At a = a_by(k, 1), b = b_by(n, 1), at = a_by(1, m), bt = b_by(1, k);
    const std::string index_a = fmt::format("index {} with [row * K + p]", x_.name_a);
    const std::string index_b = fmt::format("index {} with [p * N + col]", x_.name_b);
    add(fmt::format("{} is read transposed", x_.name_a), index_a, x_.name_a, product(at, b));
    add(fmt::format("{} is read transposed", x_.name_b), index_b, x_.name_b, product(a, bt));
    add(fmt::format("{} and {} are both read transposed", x_.name_a, x_.name_b),
        index_a + " and " + index_b, x_.name_a, product(at, bt));
    // Column-major throughout: element (r, s) of C is at address s * m + r.
    const Predict columns = product(at, bt);
    // When all sizes agree, that is B*A.
    if (m != n || n != k) {
      add("every matrix is taken as column-major",
          fmt::format("the matrices are row-major: {}[row * K + p], {}[p * N + col], {}[row * N + "
                      "col]",
                      x_.name_a, x_.name_b, x_.name_c),
          x_.name_c, [columns, m, n](std::int64_t i, std::int64_t j) {
            const std::int64_t address = i * n + j;
            return columns(address % m, address / m);
          });
    }
    if (m == k) return;
    add(fmt::format("row and column of {} are exchanged", x_.name_a), index_a, x_.name_a,
        product(a_by(1, k), b));
  }

  void swapped() {
    if (x_.m != x_.n || x_.n != x_.k) return;
    add(fmt::format("it is {}*{}: the operands are exchanged, or all taken as column-major",
                    x_.name_b, x_.name_a),
        fmt::format("read row from {} and column from {}", x_.name_a, x_.name_b), x_.name_a,
        product([&x = x_](std::int64_t i, std::int64_t p) { return element(x.b, i * x.k + p); },
                [&x = x_](std::int64_t p, std::int64_t j) { return element(x.a, p * x.k + j); }));
  }

  void strides() {
    const std::int64_t m = x_.m, n = x_.n, k = x_.k;
    const At a = a_by(k, 1), b = b_by(n, 1);
    const auto say = [](const std::string& name, const char* wrong, const char* right) {
      return std::pair(
          fmt::format("the rows of {} are taken {} apart", name, wrong),
          fmt::format("the leading dimension of {} is {}, not {}", name, right, wrong));
    };
    const auto try_a = [&](std::int64_t stride, const char* letter) {
      if (stride == k) return;
      const auto [what, remedy] = say(x_.name_a, letter, "K");
      add(what, remedy, x_.name_a, product(a_by(stride, 1), b));
    };
    const auto try_b = [&](std::int64_t stride, const char* letter) {
      if (stride == n) return;
      const auto [what, remedy] = say(x_.name_b, letter, "N");
      add(what, remedy, x_.name_b, product(a, b_by(stride, 1)));
    };
    try_a(n, "N");
    try_a(m, "M");
    try_b(k, "K");
    try_b(m, "M");
    if (n != k) {
      add(fmt::format("the leading dimensions of {} and {} are exchanged", x_.name_a, x_.name_b),
          fmt::format("index {} with [row * K + p] and {} with [p * N + col]", x_.name_a,
                      x_.name_b),
          x_.name_a, product(a_by(n, 1), b_by(k, 1)));
    }
    for (const auto& [stride, letter] : {std::pair(m, "M"), std::pair(k, "K")}) {
      if (stride == n || stride == 0) continue;
      const auto [what, remedy] = say(x_.name_c, letter, "N");
      const std::int64_t s = stride;
      add(what, remedy, x_.name_c,
          [&e = e_, s](std::int64_t i, std::int64_t j) { return stored_by(e, s, i, j); });
    }
  }

  /// What rows `stride` apart leave at (i, j). Where they overlap, one of several values stays, and
  /// which is chance: the one that is there counts.
  static std::optional<Predicted> stored_by(const Evidence& e, std::int64_t stride, std::int64_t i,
                                            std::int64_t j) {
    const Product& x = e.product();
    std::optional<Predicted> best;
    std::int64_t row = (i * x.n + j) / stride, column = (i * x.n + j) % stride;
    for (; row >= 0 && column < x.n; --row, column += stride) {
      if (row >= x.m) continue;
      const Predicted p = e.scaled(e.sum(row, column), e.size(row, column), i, j);
      if (!best || std::fabs(p.value - e.c(i, j)) < std::fabs(best->value - e.c(i, j))) best = p;
    }
    return best;
  }

  void shifts() {
    constexpr struct {
      std::int64_t rows, columns;
      const char* what;
    } kShifts[] = {{1, 0, "the row below's"},
                   {-1, 0, "the row above's"},
                   {0, 1, "its right neighbour's"},
                   {0, -1, "its left neighbour's"}};
    for (const auto& shift : kShifts) {
      const std::int64_t rows = shift.rows, columns = shift.columns;
      add(fmt::format("each element holds {} value", shift.what),
          fmt::format("the {} is off by one: it is blockIdx.{} * tile + threadIdx.{}",
                      rows ? "row index" : "column index", rows ? "y" : "x", rows ? "y" : "x"),
          x_.name_c,
          [&e = e_, rows, columns](std::int64_t i, std::int64_t j) -> std::optional<Predicted> {
            const std::int64_t r = i + rows, s = j + columns;
            if (r < 0 || s < 0 || r >= e.product().m || s >= e.product().n) return {};
            return e.scaled(e.sum(r, s), e.size(r, s), i, j);
          });
    }
  }

  const Evidence& e_;
  const Product& x_;
  std::vector<Fault> out_;
};

}  // namespace

std::vector<Fault> layout_faults(const Evidence& e) { return Layouts(e).all(); }

}  // namespace tessera::simt
