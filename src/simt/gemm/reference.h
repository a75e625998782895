// What C should be, in FP64, and how far a right C may lie from it.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/gemm/judge.h"

namespace tessera::simt {

/// A*B and |A||B|, m x n each.
struct Sums {
  std::vector<double> sum, magnitude;
};
Sums exact_sums(const Product& product);

/// The error bounds of an element kind.
class Tolerance {
 public:
  /// `wide`: 16-bit elements are summed in binary32. Otherwise in their own format, whose worst
  /// case would let anything pass; what passes then is what rounding errors of random signs can do.
  Tolerance(const Product& product, bool wide);

  /// Largest |c - value| of a right element, `magnitude` = |alpha| (|A||B|) + |beta C0|.
  double bound(double value, double magnitude) const;

 private:
  double k_, growth_, tiny_, storage_ = 0;
  bool exact_, statistical_ = false;
};

/// C as a 32-bit integer holds it.
double wrapped(double value);

}  // namespace tessera::simt
