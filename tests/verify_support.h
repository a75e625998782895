// Products to verify: data, a plain loop that computes them, and an FP64 reference.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tessera/gemm.h"
#include "tessera/verify.h"

namespace tessera::test {

template <class T>
struct Matrix {
  std::int64_t rows = 0, cols = 0, ld = 0;
  Layout layout = Layout::kRowMajor;
  std::vector<T> data;

  Matrix() = default;
  Matrix(std::int64_t rows_, std::int64_t cols_, Layout layout_ = Layout::kRowMajor,
         std::int64_t pad = 0)
      : rows(rows_),
        cols(cols_),
        ld((layout_ == Layout::kRowMajor ? cols_ : rows_) + pad),
        layout(layout_),
        data(static_cast<std::size_t>(ld * (layout_ == Layout::kRowMajor ? rows_ : cols_)), T{}) {}
  T& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(layout == Layout::kRowMajor ? i * ld + j : i + j * ld)];
  }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return const_cast<Matrix&>(*this)(i, j);
  }
  MatrixView<const T> view() const { return {data.data(), rows, cols, ld, layout}; }
  MatrixView<T> view() { return {data.data(), rows, cols, ld, layout}; }

  void fill(const std::function<double()>& next) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) (*this)(i, j) = static_cast<T>(next());
    }
  }
};

/// A product with its operands: c is computed in T by compute().
template <class T>
struct Product {
  Op op_a = Op::kN, op_b = Op::kN;
  double alpha = 1, beta = 0;
  std::int64_t m = 0, n = 0, k = 0;
  Matrix<T> a, b, c0, c;
  DType c_dtype = DTypeOf<T>::value;

  Product(std::int64_t m_, std::int64_t n_, std::int64_t k_, Op ta = Op::kN, Op tb = Op::kN,
          Layout layout = Layout::kRowMajor, std::int64_t pad = 0)
      : op_a(ta),
        op_b(tb),
        m(m_),
        n(n_),
        k(k_),
        a(ta == Op::kN ? m_ : k_, ta == Op::kN ? k_ : m_, layout, pad),
        b(tb == Op::kN ? k_ : n_, tb == Op::kN ? n_ : k_, layout, pad),
        c0(m_, n_, layout, pad),
        c(m_, n_, layout, pad) {}

  T at_a(std::int64_t i, std::int64_t p) const { return op_a == Op::kN ? a(i, p) : a(p, i); }
  T at_b(std::int64_t p, std::int64_t j) const { return op_b == Op::kN ? b(p, j) : b(j, p); }

  Product& randomize(std::uint64_t seed, double scale_a = 1, double scale_b = 1) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    a.fill([&] { return scale_a * normal(bits); });
    b.fill([&] { return scale_b * normal(bits); });
    c0.fill([&] { return scale_a * scale_b * normal(bits); });
    return *this;
  }
  Product& constant(double value_a, double value_b) {
    a.fill([&] { return value_a; });
    b.fill([&] { return value_b; });
    return *this;
  }

  /// The worst order: one running sum per element, without fused multiply-adds.
  Product& compute() {
    std::vector<T> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), T{});
      for (std::int64_t p = 0; p < k && alpha != 0; ++p) {
        const T x = at_a(i, p);
        for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] += x * at_b(p, j);
      }
      for (std::int64_t j = 0; j < n; ++j) {
        T value =
            k > 0 && alpha != 0 ? static_cast<T>(alpha) * row[static_cast<std::size_t>(j)] : T{};
        if (beta != 0) value += static_cast<T>(beta) * c0(i, j);
        c(i, j) = value;
      }
    }
    return *this;
  }
  double exact(std::int64_t i, std::int64_t j) const {
    long double sum = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      sum += static_cast<long double>(at_a(i, p)) * static_cast<long double>(at_b(p, j));
    }
    return static_cast<double>(static_cast<T>(alpha) * sum +
                               (beta != 0 ? static_cast<T>(beta) * c0(i, j) : 0));
  }

  VerifyProblem problem() const {
    VerifyProblem p;
    p.op_a = op_a;
    p.op_b = op_b;
    p.alpha = alpha;
    p.beta = beta;
    p.a = source_of(a.view());
    p.b = source_of(b.view());
    if (beta != 0) p.c0 = source_of(c0.view());
    p.c = source_of(c.view());
    p.precision = DTypeOf<T>::value == DType::kF64 ? Precision::kFp64 : Precision::kFp32;
    p.c_dtype = c_dtype;
    return p;
  }
  VerifyReport check(VerifyMethod method = VerifyMethod::kFreivalds, int rounds = 20,
                     std::uint64_t seed = 1) const {
    VerifyOptions options;
    options.method = method;
    options.rounds = rounds;
    options.seed = seed;
    return verify(problem(), options);
  }
};

}  // namespace tessera::test
