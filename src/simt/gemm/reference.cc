#include "simt/gemm/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::simt {
namespace {

struct Format {
  double roundoff, smallest;
};

Format format_of(const std::string& element) {
  if (element == "double") {
    return {std::numeric_limits<double>::epsilon() / 2, std::numeric_limits<double>::denorm_min()};
  }
  if (element == "half") return {std::ldexp(1, -11), std::ldexp(1, -24)};
  if (element == "bfloat16") return {std::ldexp(1, -8), std::ldexp(1, -133)};
  return {std::ldexp(1, -24), std::ldexp(1, -149)};
}

}  // namespace

Sums exact_sums(const Product& x) {
  const auto size = static_cast<std::size_t>(x.m * x.n);
  Sums out{std::vector<double>(size), std::vector<double>(size)};
  // Four rows of C at a time, so that each row of B is fetched a quarter as often.
  constexpr std::int64_t kRows = 4;
  for (std::int64_t i0 = 0; i0 < x.m; i0 += kRows) {
    const std::int64_t i1 = std::min(x.m, i0 + kRows);
    for (std::int64_t p = 0; p < x.k; ++p) {
      const double* b = x.b.data() + p * x.n;
      for (std::int64_t i = i0; i < i1; ++i) {
        const double a = x.a[static_cast<std::size_t>(i * x.k + p)], size_a = std::fabs(a);
        double* sum = out.sum.data() + i * x.n;
        double* magnitude = out.magnitude.data() + i * x.n;
        for (std::int64_t j = 0; j < x.n; ++j) {
          sum[j] += a * b[j];
          magnitude[j] += size_a * std::fabs(b[j]);
        }
      }
    }
  }
  return out;
}

Tolerance::Tolerance(const Product& x, bool wide)
    : k_(static_cast<double>(x.k)), exact_(x.element == "int") {
  const Format stored = format_of(x.element);
  const bool narrow = x.element == "half" || x.element == "bfloat16";
  const Format summed = narrow && wide ? format_of("float") : stored;
  statistical_ = narrow && !wide;
  storage_ = narrow ? stored.roundoff : 0;
  // The FP64 reference of an FP64 product is itself rounded.
  growth_ = (x.element == "double" ? 2 : 1) * (k_ + 3) * summed.roundoff;
  tiny_ = (k_ + 3) * summed.smallest + stored.smallest;
}

double Tolerance::bound(double value, double magnitude) const {
  if (exact_) return 0;
  const double worst = growth_ * magnitude + storage_ * std::fabs(value) + tiny_;
  if (!statistical_) return worst;
  // Partial sums of terms with random signs reach about |value| and sqrt(k) times a term; each of k
  // roundings is one unit of those, and their own signs are random too.
  const double likely = 4 * storage_ * (std::sqrt(k_) * std::fabs(value) + 4 * magnitude) + tiny_;
  return std::min(worst, likely);
}

double wrapped(double value) {
  if (!(std::fabs(value) < 9007199254740992.0)) return value;
  return static_cast<double>(
      static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(value))));
}

}  // namespace tessera::simt
