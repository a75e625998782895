#include "simt/gemm/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simt/gemm/evidence.h"
#include "simt/gemm/faults.h"
#include "simt/gemm/reference.h"
#include "simt/gemm/region.h"
#include "simt/gemm/unwritten.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

struct Explanation {
  Fault fault;
  Match match = Match::kNone;
  bool is_index = false;  ///< of a whole matrix
};

/// The sign of a NaN says nothing.
std::string number(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
}

/// The first fault that explains every element, else the first that explains all wrong ones.
Explanation explain(const Evidence& e) {
  using Faults = std::vector<Fault> (*)(const Evidence&);
  Explanation best;
  // From the plain to the contrived; within equal evidence the first wins.
  for (Faults faults : {scalar_faults, layout_faults, depth_faults, edge_faults, tile_faults,
                        carry_faults, precision_faults}) {
    for (Fault& fault : faults(e)) {
      const Match match = e.test(fault);
      const bool is_index = faults == layout_faults;
      if (match == Match::kEveryElement) return {std::move(fault), match, is_index};
      if (match > best.match) best = {std::move(fault), match, is_index};
    }
  }
  if (best.match == Match::kNone) {
    if (std::optional<Fault> fault = overrun_fault(e)) return {*fault, Match::kEveryElement, false};
  }
  return best;
}

/// Without shared memory each thread loads what it needs itself.
Fault by_region_untiled(const Product& x, const Region& region, bool is_nan) {
  const std::string read = is_nan ? "it is NaN, as from memory that nothing was stored to: " : "";
  const bool columns = region.kind == RegionKind::kTailColumns;
  if (columns || region.kind == RegionKind::kTailRows) {
    return {read + fmt::format("of no other {} of {} are the terms wrong, so a bound of {} or the "
                               "index of {} is at fault",
                               columns ? "columns" : "rows", x.name_c, columns ? "N" : "M",
                               columns ? x.name_b : x.name_a),
            columns ? fmt::format("let every thread with column < N add all K terms, with {}[p * N "
                                  "+ column]",
                                  x.name_b)
                    : fmt::format("let every thread with row < M add all K terms, with {}[row * K "
                                  "+ p]",
                                  x.name_a),
            columns ? x.name_b : x.name_a,
            {}};
  }
  if (is_nan) {
    return {read + "an accumulator or C itself is read before it is stored to",
            "start the accumulator from 0, and add to C only where it has a value",
            x.name_c,
            {}};
  }
  return {"no known fault of an index or a guard gives these values",
          "compare a single element by hand, and see the other findings: a race or an overrun "
          "changes values too",
          x.name_c,
          {}};
}

/// What to look at when only the place of the wrong elements is known.
Fault by_region(const Product& x, const Region& region, bool is_nan) {
  if (!x.is_tiled) return by_region_untiled(x, region, is_nan);
  const std::string read = is_nan ? "it is NaN, as from memory that nothing was stored to: " : "";
  const std::string own_a = fmt::format(
      "guard the load of {} with its own bounds, row < M && t*T + tx < K, store 0 otherwise, and "
      "let "
      "no thread return before the last barrier",
      x.name_a);
  const std::string own_b = fmt::format(
      "guard the load of {} with its own bounds, t*T + ty < K && col < N, store 0 otherwise, and "
      "let "
      "no thread return before the last barrier",
      x.name_b);
  switch (region.kind) {
    case RegionKind::kTailColumns:
      return {read + fmt::format("threads beyond column {} of {} take no part in loading {}, or N "
                                 "lacks a guard",
                                 x.n - 1, x.name_c, x.name_a),
              own_a,
              x.name_a,
              {}};
    case RegionKind::kTailRows:
      return {read + fmt::format("threads beyond row {} of {} take no part in loading {}, or M "
                                 "lacks a guard",
                                 x.m - 1, x.name_c, x.name_b),
              own_b,
              x.name_b,
              {}};
    case RegionKind::kTailBoth:
      return {
          read + fmt::format("threads outside of {} take no part in loading the tiles, or M and "
                             "N lack guards",
                             x.name_c),
          own_a + "; likewise " + x.name_b + " with t*T + ty < K && col < N",
          x.name_a,
          {}};
    default:
      break;
  }
  const std::vector<std::int64_t> tiles = likely_tiles(x);
  const bool all = region.kind == RegionKind::kAll;
  if (is_nan && all && !tiles.empty() && x.k % tiles[0] != 0) {
    return {read + fmt::format("K = {} is no multiple of {}, and the tail of K lacks a guard", x.k,
                               tiles[0]),
            fmt::format("guard the load of {} with t*T + tx < K, and that of {} with t*T + ty < K, "
                        "and store 0 otherwise",
                        x.name_a, x.name_b),
            x.name_a,
            {}};
  }
  if (is_nan) {
    return {read + "a tile, an accumulator or C itself is read before it is stored to",
            "store to every element of the tiles in each step and start the accumulator from 0",
            x.name_c,
            {}};
  }
  return {"no known fault of an index or a guard gives these values",
          "compare a single element by hand, and see the other findings: a race or an overrun "
          "changes values too",
          x.name_c,
          {}};
}

class Judge {
 public:
  explicit Judge(const Product& x) : x_(x), sums_(exact_sums(x)) {}

  std::optional<Finding> wrong_result() const {
    // 16-bit results pass as sums in 16 bits, but are explained as sums in 32 where that fits.
    const Tolerance wide(x_, true), own(x_, false);
    const bool narrow = x_.element == "half" || x_.element == "bfloat16";
    const Evidence evidence(x_, sums_, wide);
    if (evidence.wrong().empty()) return {};
    if (!narrow) return finding(evidence, explain(evidence));
    const Evidence loose(x_, sums_, own);
    if (loose.wrong().empty()) return {};
    const Explanation explanation = explain(evidence);
    if (explanation.match != Match::kNone) return finding(evidence, explanation);
    return finding(loose, explain(loose));
  }

 private:
  Finding finding(const Evidence& e, const Explanation& explanation) const {
    const Region region = find_region(x_.m, x_.n, e.wrong_flags(), e.judged_flags());
    const bool is_nan = std::all_of(e.wrong().begin(), e.wrong().end(), [&](std::int64_t w) {
      return std::isnan(e.c(w / x_.n, w % x_.n));
    });
    const Fault fault =
        explanation.match == Match::kNone ? by_region(x_, region, is_nan) : explanation.fault;
    const std::int64_t i = e.wrong().front() / x_.n, j = e.wrong().front() % x_.n;
    const Predicted right = e.expected(i, j);
    Finding out;
    out.rule = rule::kWrongResult;
    out.message = fmt::format(
        "{} is wrong {} ({} of {} elements): {}; {}[{}][{}] is {} and should be {} within {:.1e}",
        x_.name_c, region.text, e.wrong().size(), x_.m * x_.n, fault.what, x_.name_c, i, j,
        number(e.c(i, j)), number(right.value), e.bound(right));
    out.remedy = fault.remedy;
    out.kernel = x_.kernel;
    out.place = x_.place;
    out.array = x_.name_c;
    out.at_fault = fault.array;
    out.cause = fault.what;
    out.proof = explanation.match == Match::kNone ? Proof::kRegion
                : explanation.is_index            ? Proof::kIndex
                                                  : Proof::kValues;
    out.element = fmt::format("[{}][{}]", i, j);
    out.count = e.wrong().size();
    return out;
  }

  const Product& x_;
  Sums sums_;
};

void check_sizes(const Product& x) {
  const auto has = [](std::size_t size, std::int64_t rows, std::int64_t columns) {
    return size == static_cast<std::size_t>(rows * columns);
  };
  const bool ok = x.m >= 0 && x.n >= 0 && x.k >= 0 && has(x.a.size(), x.m, x.k) &&
                  has(x.b.size(), x.k, x.n) && has(x.c.size(), x.m, x.n) &&
                  (x.c_before.empty() || has(x.c_before.size(), x.m, x.n)) &&
                  (x.written.empty() || has(x.written.size(), x.m, x.n));
  if (ok) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("check: a product of {} x {} x {} is given with matrices of other sizes",
                          x.m, x.n, x.k));
}

}  // namespace

std::vector<Finding> judge(const Product& product) {
  check_sizes(product);
  std::vector<Finding> out;
  if (product.m == 0 || product.n == 0) return out;
  if (std::optional<Finding> f = find_unwritten(product)) out.push_back(std::move(*f));
  if (std::optional<Finding> f = Judge(product).wrong_result()) out.push_back(std::move(*f));
  return out;
}

}  // namespace tessera::simt
