#include "simt/gemm/evidence.h"

#include <algorithm>
#include <cmath>

namespace tessera::simt {
namespace {

constexpr std::size_t kSample = 24, kMost = 2000;
// A prediction meets an element by chance with about the probability bound / error. So many bits
// leave no chance even to the thousands of faults that are tried.
constexpr double kEnoughBits = 32;

}  // namespace

Evidence::Evidence(const Product& product, const Sums& sums, const Tolerance& tolerance)
    : x_(product), sums_(sums), tolerance_(tolerance) {
  const auto size = static_cast<std::size_t>(x_.m * x_.n);
  judged_ = x_.written.empty() ? std::vector<bool>(size, true) : x_.written;
  for (std::int64_t e = x_.n; e < x_.m * x_.n; ++e) {
    if (e % x_.n < x_.disputed) judged_[static_cast<std::size_t>(e)] = false;
  }
  wrong_.resize(size);
  for (std::int64_t e = 0; e < x_.m * x_.n; ++e) {
    const auto index = static_cast<std::size_t>(e);
    if (!judged_[index]) continue;
    const Predicted right = expected(e / x_.n, e % x_.n);
    const double got = x_.c[index];
    bool ok;
    if (std::isfinite(right.value)) {
      ok = std::fabs(got - right.value) <= bound(right);
    } else {
      ok = std::isnan(right.value) ? std::isnan(got) : got == right.value;
    }
    if (ok) continue;
    wrong_[index] = true;
    wrong_list_.push_back(e);
  }
}

Predicted Evidence::scaled(double sum, double magnitude, std::int64_t i, std::int64_t j) const {
  // With alpha 0 the matrices are not read, with beta 0 C is not.
  Predicted out;
  if (x_.alpha != 0) out = {x_.alpha * sum, std::fabs(x_.alpha) * magnitude};
  if (x_.beta != 0) {
    out.value += x_.beta * c0(i, j);
    out.magnitude += std::fabs(x_.beta * c0(i, j));
  }
  if (x_.element == "int") out.value = wrapped(out.value);
  return out;
}

Predicted Evidence::expected(std::int64_t i, std::int64_t j) const {
  return scaled(sum(i, j), size(i, j), i, j);
}

bool Evidence::fits(const Predicted& p, double c) const {
  // Twice the bound: a faulty kernel may round once or twice more than a right one.
  return std::fabs(c - p.value) <= 2 * bound(p);
}

bool Evidence::wrong_ones_match(const Fault& fault, std::size_t most, double* bits) const {
  const std::size_t step = std::max<std::size_t>(1, wrong_list_.size() / most);
  std::size_t known = 0, tried = 0;
  *bits = 0;
  for (std::size_t w = 0; w < wrong_list_.size(); w += step) {
    const std::int64_t i = wrong_list_[w] / x_.n, j = wrong_list_[w] % x_.n;
    ++tried;
    const std::optional<Predicted> p = fault.predict(i, j);
    if (!p) continue;
    if (!fits(*p, c(i, j))) return false;
    ++known;
    const double error = std::fabs(c(i, j) - expected(i, j).value);
    *bits += std::log2(std::max(1.0, error / std::max(2 * bound(*p), 0.5 * (x_.element == "int"))));
  }
  return known * 2 >= tried && known > 0;
}

bool Evidence::right_ones_match(const Fault& fault) const {
  const std::int64_t all = x_.m * x_.n;
  // A stride without a common factor with the columns, so that no column is left out.
  std::int64_t step = std::max<std::int64_t>(1, all / static_cast<std::int64_t>(kMost));
  while (step > 1 && x_.n % step == 0) ++step;
  for (std::int64_t e = 0; e < all; e += step) {
    const std::int64_t i = e / x_.n, j = e % x_.n;
    if (!judged_[at(i, j)] || wrong_[at(i, j)]) continue;
    const std::optional<Predicted> p = fault.predict(i, j);
    if (p && !fits(*p, c(i, j))) return false;
  }
  return true;
}

Match Evidence::test(const Fault& fault) const {
  double bits = 0;
  if (!wrong_ones_match(fault, kSample, &bits)) return Match::kNone;
  if (!wrong_ones_match(fault, kMost, &bits)) return Match::kNone;
  if (!fault.is_exact && bits < kEnoughBits) return Match::kNone;
  return right_ones_match(fault) ? Match::kEveryElement : Match::kWrongElements;
}

}  // namespace tessera::simt
