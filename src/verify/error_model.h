// How far a right product may lie from the exact one, and the verdict on one element.
#pragma once

#include <cstdint>

#include "tessera/precision.h"

namespace tessera::verify_detail {

/// What the check needs to know of a floating-point format.
struct Format {
  double roundoff;    ///< half the distance from 1 to the next number
  double spacing;     ///< smallest subnormal
  double largest;     ///< largest finite number
  bool has_infinity;  ///< when false, overflow becomes NaN
};

/// Throws Error(kInvalidArgument) for a type that is not a floating-point one.
Format format_of(DType dtype);

/// Sum over p of a(p) * b(p), and of its finite terms' magnitudes. Both stand for
/// 2^exponent times the number.
struct Dot {
  double sum = 0;
  double magnitude = 0;
  int exponent = 0;
};

struct Verdict {
  bool ok = false;
  double ratio = 0;  ///< |error| / bound; infinite when a NaN or an infinity is wrong
  double expected = 0;
  double bound = 0;
  /// Any true error above this is certain to be found: the bound and the reference's own error.
  double detectable = 0;
};

/// alpha * sum + beta * c0, summed over k terms in any order in one precision, then stored.
class ErrorModel {
 public:
  /// k is 0 when A and B take no part, beta is 0 when C0 does not.
  ErrorModel(std::int64_t k, double alpha, double beta, Precision precision, DType stored);

  /// Largest |c - reference| of a right product, given the size of the result and
  /// `magnitude` = |alpha| (|A||B|)_ij + |beta C0_ij|, in units of `unit`: the numbers passed in
  /// and returned are the true ones times `unit`.
  double bound(double result, double magnitude, double unit = 1) const;
  /// Largest error of the FP64 reference itself.
  double reference_error(double magnitude, double unit = 1) const;
  Verdict judge(const Dot& dot, double c0, double c) const;

  /// Rounding of the product's own arithmetic and, when coarser, of storing it.
  double roundoff() const { return product_.roundoff; }
  double storage_roundoff() const { return stores_coarser_ ? stored_.roundoff : 0; }
  /// Absolute error that underflow may add to one element.
  double underflow() const;

 private:
  double product_error(double magnitude, double unit) const;
  bool accepts_overflow(double result, double error, double c) const;
  Verdict judge_special(double expected, bool may_overflow, double c) const;
  Verdict judge_scaled(const Dot& dot, double c0, double c) const;

  double terms_ = 0, alpha_ = 1, beta_ = 0;
  Format product_, stored_;
  bool stores_coarser_ = false;
  double growth_ = 0, reference_growth_ = 0;
  double reference_underflow_ = 0;
};

/// (1 + u)^n - 1, the most that n roundings can change a term by.
double growth(double n, double u);

}  // namespace tessera::verify_detail
