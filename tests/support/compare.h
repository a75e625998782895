// Is this product right? One comparer for every test, with tests of its own (compare_test.cc).
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/reference.h"

namespace tessera::test {

struct Comparison {
  bool passed = false;
  double worst = 0;  ///< largest |error| / bound
  std::string message;
  explicit operator bool() const { return passed; }
};

/// Element by element, |c - reference| <= (k + 3) * u * magnitude + subnormal spacing: the bound of
/// a dot product summed in any order (Higham 2002, section 3.1) plus the two scalings. Where the
/// reference is NaN or infinite, c must be the same. Written positively, so NaN never passes.
template <class T>
Comparison compare(const Reference& reference, const TestMatrix<T>& c, std::int64_t batch = 0) {
  Comparison out;
  if (c.rows() != reference.m || c.cols() != reference.n) {
    out.message = "shapes differ";
    return out;
  }
  const double u = std::numeric_limits<T>::epsilon() / 2;
  const double g = static_cast<double>(reference.k + 3) * u;
  const double tiny = static_cast<double>(reference.k + 3) *
                      static_cast<double>(std::numeric_limits<T>::denorm_min());
  // The FP64 reference of an FP64 product is itself rounded.
  const double factor = sizeof(T) == 8 ? 2 : 1;
  for (std::int64_t i = 0; i < c.rows(); ++i) {
    for (std::int64_t j = 0; j < c.cols(); ++j) {
      const std::size_t x = static_cast<std::size_t>(i * reference.n + j);
      const double expected = reference.value[x], got = static_cast<double>(c.at(i, j, batch));
      const double bound = factor * g * reference.magnitude[x] + tiny;
      bool ok;
      if (std::isnan(expected)) {
        ok = std::isnan(got);
      } else if (std::isinf(expected)) {
        ok = got == expected;
      } else {
        const double error = std::fabs(got - expected);
        ok = error <= bound;
        if (ok && bound > 0) out.worst = std::fmax(out.worst, error / bound);
      }
      if (!ok) {
        out.message = fmt::format("element ({}, {}): expected {:.17g}, got {:.17g}, bound {:.3g}",
                                  i, j, expected, got, bound);
        return out;
      }
    }
  }
  out.passed = true;
  return out;
}

/// Bit-exact against the reference: for integer data, whose products and sums are exact.
template <class T>
Comparison compare_exact(const Reference& reference, const TestMatrix<T>& c,
                         std::int64_t batch = 0) {
  Comparison out;
  if (c.rows() != reference.m || c.cols() != reference.n) {
    out.message = "shapes differ";
    return out;
  }
  for (std::int64_t i = 0; i < c.rows(); ++i) {
    for (std::int64_t j = 0; j < c.cols(); ++j) {
      const double expected = reference.value[static_cast<std::size_t>(i * reference.n + j)];
      const double got = static_cast<double>(c.at(i, j, batch));
      const bool ok = got == expected;
      if (!ok) {
        out.message = fmt::format("element ({}, {}): expected exactly {:.17g}, got {:.17g}", i, j,
                                  expected, got);
        return out;
      }
    }
  }
  out.passed = true;
  return out;
}

}  // namespace tessera::test
