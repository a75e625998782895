#include "kernels/cpu/regime.h"

#include "kernels/cpu/blocking.h"
#include "tessera/precision.h"

namespace tessera {

Regime regime_of(const Problem& p, const DeviceInfo& device) {
  if (p.m == 1 || p.n == 1) return Regime::kMatvec;
  const double b_bytes = static_cast<double>(p.k) * static_cast<double>(p.n) *
                         static_cast<double>(size_of(p.input_dtype()));
  constexpr std::int64_t kNarrow = 64, kLargeL2 = std::int64_t{1} << 20;
  // c05_skinny takes rows of B a panel of up to kNarrow columns, and a few rows, at a time.
  const bool is_long = p.trans_b || (p.n > kNarrow && p.k > kShallow);
  if (p.m <= kFewRows && is_long && b_bytes > static_cast<double>(device.l2_bytes)) {
    return Regime::kSkinny;
  }
  if (p.input_dtype() != p.dtype) return Regime::kBlocked;  // c03 reads A in place, as it is
  if (fits_l2(p, device)) return Regime::kDirect;
  // Rows of A in place pass once, and then serve every panel of B that L2 holds; columns would ask
  // for a page with each step of depth.
  const bool is_narrow = p.n <= kNarrow;
  const bool keeps_b = p.k > kShallow ? device.l2_bytes >= kLargeL2 : !exceeds_caches(p, device);
  return !p.trans_a && (is_narrow || keeps_b) ? Regime::kDirect : Regime::kBlocked;
}

double estimate_us(Regime regime, const Problem& p, const DeviceInfo& device) {
  return estimate_blocked_us(p, device) * (regime_of(p, device) == regime ? 0.8 : 1.25);
}

}  // namespace tessera
