// Does a supposed fault explain what is in C?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simt/gemm/judge.h"
#include "simt/gemm/reference.h"
#include "simt/gemm/region.h"

namespace tessera::simt {

/// What C would hold, with the sum of the sizes of its terms.
struct Predicted {
  double value = 0, magnitude = 0;
};
/// No value where the fault reads what is not known, such as memory behind an array.
using Predict = std::function<std::optional<Predicted>(std::int64_t i, std::int64_t j)>;

/// A fault that a kernel may have.
struct Fault {
  std::string what;    ///< "it is the transpose of A*B"
  std::string remedy;  ///< what to change
  std::string array;   ///< whose index or guard is at fault
  Predict predict;
  bool is_exact = false;  ///< predicts without rounding, so that one element is proof
};

enum class Match { kNone, kWrongElements, kEveryElement };

/// The product, its reference and what is wrong.
class Evidence {
 public:
  Evidence(const Product& product, const Sums& sums, const Tolerance& tolerance);

  const Product& product() const { return x_; }
  double sum(std::int64_t i, std::int64_t j) const { return sums_.sum[at(i, j)]; }
  double size(std::int64_t i, std::int64_t j) const { return sums_.magnitude[at(i, j)]; }
  double c0(std::int64_t i, std::int64_t j) const {
    return x_.c_before.empty() ? 0 : x_.c_before[at(i, j)];
  }
  double c(std::int64_t i, std::int64_t j) const { return x_.c[at(i, j)]; }
  bool is_wrong(std::int64_t i, std::int64_t j) const { return wrong_[at(i, j)]; }
  Predicted expected(std::int64_t i, std::int64_t j) const;
  /// The value that alpha * sum + beta * C0 makes of a sum.
  Predicted scaled(double sum, double magnitude, std::int64_t i, std::int64_t j) const;
  double bound(const Predicted& p) const { return tolerance_.bound(p.value, p.magnitude); }

  /// Row-major positions of wrong elements, ascending.
  const std::vector<std::int64_t>& wrong() const { return wrong_list_; }
  const std::vector<bool>& wrong_flags() const { return wrong_; }
  const std::vector<bool>& judged_flags() const { return judged_; }

  /// A sample first, then up to a few thousand elements.
  Match test(const Fault& fault) const;

 private:
  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * x_.n + j);
  }
  bool fits(const Predicted& p, double c) const;
  bool wrong_ones_match(const Fault& fault, std::size_t most, double* bits) const;
  bool right_ones_match(const Fault& fault) const;

  const Product& x_;
  const Sums& sums_;
  const Tolerance& tolerance_;
  std::vector<bool> wrong_, judged_;
  std::vector<std::int64_t> wrong_list_;
};

}  // namespace tessera::simt
