#include "kernels/cpu/regime.h"

#include "kernels/cpu/blocking.h"
#include "tessera/precision.h"

namespace tessera {

Regime regime_of(const Problem& p, const DeviceInfo& device) {
  const auto size = static_cast<double>(size_of(p.dtype));
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto l2 = static_cast<double>(device.l2_bytes);
  if (p.m == 1 || p.n == 1) return Regime::kMatvec;
  const auto input_size = static_cast<double>(size_of(p.input_dtype()));
  if (p.m <= kFewRows && k * n * input_size > l2) return Regime::kSkinny;
  const bool is_small = ((m + n) * k + m * n) * size <= l2;
  const bool is_narrow = p.n <= 64 && !p.trans_a;   // A passes once, row by row
  const bool is_wide = p.input_dtype() == p.dtype;  // c03 reads A in place, as it is
  if (is_wide && (is_small || is_narrow)) return Regime::kDirect;
  return Regime::kBlocked;
}

double estimate_us(Regime regime, const Problem& p, const DeviceInfo& device) {
  return estimate_blocked_us(p, device) * (regime_of(p, device) == regime ? 0.8 : 1.25);
}

}  // namespace tessera
