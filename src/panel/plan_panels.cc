#include "panel/plan_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/int_math.h"
#include "tessera/error.h"

namespace tessera::panel {
namespace {

using std::int64_t;

// What starting one product costs, in bytes that could have been moved meanwhile.
constexpr double kProductCostBytes = 256 << 10;

struct Counts {
  int64_t m, n, k;
};
Counts panel_counts(const PanelRequest& r, const PanelShape& s) {
  return {ceil_div(r.m, s.m), ceil_div(r.n, s.n), ceil_div(r.k, s.k)};
}

/// Panel sizes worth trying: even splits into a growing number of parts, so that the last panel is
/// not much shorter than the others.
std::vector<int64_t> candidate_sizes(int64_t dim) {
  std::vector<int64_t> sizes{dim};
  for (int64_t parts = 2; sizes.back() > kPanelStep; parts += std::max<int64_t>(1, parts / 4)) {
    const int64_t size = round_up(ceil_div(dim, parts), kPanelStep);
    if (size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

bool small_enough(const PanelRequest& r, const PanelShape& s, const PanelShape& smallest) {
  if (bytes_held(r, s) > r.budget_bytes) return false;
  if (r.max_multiply_adds <= 0) return true;
  const double work =
      static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return work <= r.max_multiply_adds || (s.m == smallest.m && s.n == smallest.n);
}

}  // namespace

int64_t padded_ld(int64_t cols, int64_t element_bytes) {
  const int64_t per_vector = 16 / element_bytes;
  return cols < per_vector ? std::max<int64_t>(cols, 1) : round_up(cols, per_vector);
}

int64_t buffer_bytes(int64_t rows, int64_t cols, int64_t element_bytes) {
  const int64_t elements = saturating_mul(rows, padded_ld(cols, element_bytes));
  const int64_t bytes = saturating_mul(elements, element_bytes);
  return bytes > INT64_MAX - 255 ? INT64_MAX : round_up(bytes, 256);
}

int64_t bytes_held(const PanelRequest& r, const PanelShape& s) {
  const Counts count = panel_counts(r, s);
  const auto slots = [&](int64_t panels) { return r.double_buffered && panels > 1 ? 2 : 1; };
  const int64_t input = r.input_bytes > 0 ? r.input_bytes : r.element_bytes;
  int64_t total = 0;
  if (r.hold_a) {
    const int64_t one = buffer_bytes(r.trans_a ? s.k : s.m, r.trans_a ? s.m : s.k, input);
    total = saturating_add(total, saturating_mul(one, slots(count.m * count.k)));
  }
  if (r.hold_b) {
    const int64_t one = buffer_bytes(r.trans_b ? s.n : s.k, r.trans_b ? s.k : s.n, input);
    total = saturating_add(total, saturating_mul(one, slots(count.n * count.k)));
  }
  if (r.hold_c) total = saturating_add(total, buffer_bytes(s.m, s.n, r.element_bytes));
  return total;
}

double traffic_bytes(const PanelRequest& r, const PanelShape& s) {
  const Counts count = panel_counts(r, s);
  const auto m = static_cast<double>(r.m), n = static_cast<double>(r.n),
             k = static_cast<double>(r.k);
  const bool a_stays = r.hold_a && count.k == 1 && (s.a_outer || count.m == 1);
  const bool b_stays = r.hold_b && count.k == 1 && (!s.a_outer || count.n == 1);
  const double loads_a = a_stays ? 1 : static_cast<double>(count.n);
  const double loads_b = b_stays ? 1 : static_cast<double>(count.m);
  double bytes = loads_a * m * k * r.load_a_bytes + loads_b * k * n * r.load_b_bytes;
  bytes += m * n * (r.store_c_bytes + static_cast<double>(count.k - 1) * r.repeat_c_bytes);
  bytes += kProductCostBytes * static_cast<double>(count.m) * static_cast<double>(count.n) *
           static_cast<double>(count.k);
  if (r.double_buffered) {
    const auto pm = static_cast<double>(s.m), pn = static_cast<double>(s.n),
               pk = static_cast<double>(s.k);
    bytes += pm * pk * r.load_a_bytes + pk * pn * r.load_b_bytes + pm * pn * r.store_c_bytes;
  }
  return bytes;
}

PanelShape smallest_shape(const PanelRequest& r) {
  return {std::min(r.m, kPanelStep), std::min(r.n, kPanelStep),
          r.whole_k ? r.k : std::min(r.k, kPanelStep), true};
}

PanelPlan plan_panels(const PanelRequest& r) {
  const PanelShape smallest = smallest_shape(r);
  const PanelShape whole{r.m, r.n, r.k, r.m >= r.n};
  if (small_enough(r, whole, smallest)) {
    return {whole, bytes_held(r, whole), traffic_bytes(r, whole)};
  }
  const std::vector<int64_t> k_sizes = r.whole_k ? std::vector<int64_t>{r.k} : candidate_sizes(r.k);
  PanelPlan best;
  best.traffic_bytes = std::numeric_limits<double>::infinity();
  for (const int64_t m : candidate_sizes(r.m)) {
    for (const int64_t n : candidate_sizes(r.n)) {
      for (const int64_t k : k_sizes) {
        for (const bool a_outer : {true, false}) {
          const PanelShape shape{m, n, k, a_outer};
          if (!small_enough(r, shape, smallest)) continue;
          const double bytes = traffic_bytes(r, shape);
          if (bytes < best.traffic_bytes) best = {shape, bytes_held(r, shape), bytes};
        }
      }
    }
  }
  if (best.shape.m == 0) {
    throw Error(
        ErrorCode::kOutOfMemory,
        fmt::format("panel_gemm: a budget of {} bytes for panels is too small for m={} n={} "
                    "k={}; the smallest that works is {} bytes",
                    r.budget_bytes, r.m, r.n, r.k, bytes_held(r, smallest)));
  }
  return best;
}

}  // namespace tessera::panel
