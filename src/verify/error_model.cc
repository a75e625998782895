#include "verify/error_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/error.h"

namespace tessera::verify_detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Format kBinary64 = {0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023, true};
constexpr Format kBinary32 = {0x1p-24, 0x1p-149, 0x1.fffffep127, true};

// Roundings that one term a(p) b(p) can pass through, in any order of summation and with K cut into
// any panels: its product, at most k - 1 additions among the terms, the multiplication by alpha,
// the addition of beta C0; and one to spare. The term beta C0 passes through no more.
double roundings(double k) { return k + 3; }

}  // namespace

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return kBinary64;
    case DType::kF32:
      return kBinary32;
    case DType::kF16:
      return {0x1p-11, 0x1p-24, 65504, true};
    case DType::kBF16:
      return {0x1p-8, 0x1p-133, 0x1.fep127, true};
    case DType::kF8E4M3:
      return {0x1p-4, 0x1p-9, 448, false};
    case DType::kF8E5M2:
      return {0x1p-3, 0x1p-16, 57344, true};
    default:
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("verify: c_dtype = {}: must be a floating-point type", to_string(dtype)));
  }
}

double growth(double n, double u) { return std::expm1(n * std::log1p(u)); }

ErrorModel::ErrorModel(std::int64_t k, double alpha, double beta, Precision precision, DType stored)
    : terms_(static_cast<double>(k)),
      alpha_(alpha),
      beta_(beta),
      product_(precision == Precision::kFp64 ? kBinary64 : kBinary32),
      stored_(format_of(stored)),
      stores_coarser_(stored_.roundoff > product_.roundoff),
      growth_(growth(roundings(terms_), product_.roundoff)),
      reference_growth_(growth(roundings(terms_), kBinary64.roundoff)),
      reference_underflow_((std::abs(alpha_) * terms_ + 3) * kBinary64.spacing) {}

// Each of the k products may lose half a spacing to underflow before it is multiplied by alpha, and
// so may the products with alpha and beta; additions lose nothing.
double ErrorModel::underflow() const {
  return (std::abs(alpha_) * terms_ + 3) * product_.spacing * (1 + growth_) +
         (stores_coarser_ ? stored_.spacing : 0);
}

double ErrorModel::product_error(double magnitude, double unit) const {
  return growth_ * magnitude +
         (std::abs(alpha_) * terms_ + 3) * product_.spacing * (1 + growth_) * unit;
}

double ErrorModel::reference_error(double magnitude, double unit) const {
  // Multiplying a subnormal number takes many times as long as any other.
  const double underflow = unit == 1 ? reference_underflow_ : reference_underflow_ * unit;
  return reference_growth_ * magnitude + underflow;
}

double ErrorModel::bound(double result, double magnitude, double unit) const {
  // The magnitude was itself summed in FP64; the last factor also covers the arithmetic here.
  magnitude *= 1 + 2 * reference_growth_;
  double error = product_error(magnitude, unit) + reference_error(magnitude, unit);
  if (stores_coarser_) {
    error += stored_.roundoff * (std::abs(result) + error) + stored_.spacing * unit;
  }
  return error * (1 + 0x1p-40);
}

bool ErrorModel::accepts_overflow(double result, double error, double c) const {
  if (!(std::abs(result) + error >= stored_.largest)) return false;
  if (!stored_.has_infinity) return std::isnan(c);
  return std::isinf(c) && (std::signbit(c) == std::signbit(result) || std::abs(result) <= error);
}

// A NaN or an infinity among the inputs. Which of the two comes out does not depend on the order of
// summation, unless the finite terms can overflow by themselves, or alpha is infinite and rounding
// decides the sign of what it multiplies.
Verdict ErrorModel::judge_special(double expected, bool may_overflow, double c) const {
  Verdict v;
  v.expected = expected;
  bool same = std::isnan(expected) ? std::isnan(c) : c == expected;
  if (!stored_.has_infinity) same = std::isnan(c);
  v.ok = same || (!std::isfinite(c) && (may_overflow || std::isinf(alpha_)));
  v.ratio = v.ok ? 0 : kInfinity;
  return v;
}

Verdict ErrorModel::judge(const Dot& dot, double c0, double c) const {
  const double product = terms_ > 0 ? alpha_ * dot.sum : 0;
  const double added = beta_ != 0 ? beta_ * c0 : 0;
  const double product_size = terms_ > 0 ? std::abs(alpha_) * dot.magnitude : 0;
  const double expected = product + added;
  const bool special_input = (terms_ > 0 && !(std::isfinite(dot.sum) && std::isfinite(alpha_))) ||
                             (beta_ != 0 && !(std::isfinite(c0) && std::isfinite(beta_)));
  const double magnitude = product_size + (special_input ? 0 : std::abs(added));
  const bool may_overflow =
      dot.exponent != 0 ||
      !(std::max(dot.magnitude, magnitude) * (1 + growth_) <= product_.largest);
  if (special_input) return judge_special(expected, may_overflow, c);
  if (std::isfinite(c) && (dot.exponent != 0 || !std::isfinite(magnitude))) {
    return judge_scaled(dot, c0, c);
  }

  Verdict v;
  v.expected = expected;
  v.bound = bound(expected, magnitude);
  v.detectable = v.bound + reference_error(magnitude);
  if (std::isfinite(c)) {
    const double error = std::abs(c - expected);
    v.ok = error <= v.bound;
    v.ratio = error == 0 ? 0 : error / v.bound;
  } else {
    v.ok = may_overflow || accepts_overflow(expected, v.bound, c);
    v.ratio = v.ok ? 0 : kInfinity;
  }
  return v;
}

// FP64 products whose magnitude passes the largest double: everything is compared in units of 2^q,
// with q so large that neither term can overflow. The magnitude being huge, what underflows in
// these units is far below its rounding error.
Verdict ErrorModel::judge_scaled(const Dot& dot, double c0, double c) const {
  int alpha_exponent = 0, beta_exponent = 0;
  const double alpha = std::frexp(alpha_, &alpha_exponent);
  const double beta = std::frexp(beta_, &beta_exponent);
  alpha_exponent += dot.exponent;
  const int q = std::max({alpha_exponent, beta_exponent, 0}) + 8;
  const double product = std::ldexp(alpha * dot.sum, alpha_exponent - q);
  const double added = beta_ != 0 ? std::ldexp(beta * c0, beta_exponent - q) : 0;
  const double magnitude =
      std::ldexp(std::abs(alpha) * dot.magnitude, alpha_exponent - q) + std::abs(added);
  const double expected = product + added;
  const double limit = bound(expected, magnitude, std::ldexp(1.0, -q));
  const double error = std::abs(std::ldexp(c, -q) - expected);
  Verdict v;
  v.ok = error <= limit;
  v.ratio = error == 0 ? 0 : error / limit;
  v.expected = std::ldexp(expected, q);
  v.bound = std::ldexp(limit, q);
  v.detectable = 2 * v.bound;
  return v;
}

}  // namespace tessera::verify_detail
