#include "plan_cache.h"

#include <array>
#include <map>
#include <utility>

#include "core/canonical.h"

namespace tessera::python {
namespace {

/// More than a model has shapes; beyond it the cache starts anew.
constexpr std::size_t kMostPlans = 1024;

using Key = std::pair<std::array<std::int64_t, 24>, std::string>;

Key key_of(const GemmDesc& d, const GemmOptions& options) {
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  const auto& [a, b, c] = std::tie(d.a, d.b, d.c);
  return {{number(d.dtype),
           number(d.space),
           d.device,
           number(d.op_a),
           number(d.op_b),
           d.batch,
           a.rows,
           a.cols,
           a.ld,
           number(a.layout),
           a.batch_stride,
           a.alignment,
           b.rows,
           b.cols,
           b.ld,
           number(b.layout),
           b.batch_stride,
           b.alignment,
           c.rows,
           c.ld,
           number(c.layout),
           c.batch_stride,
           c.alignment,
           number(options.precision)},
          options.kernel};
}

}  // namespace

GemmDesc describe(const Product& p) {
  const auto operand = [](const Matrix& x) {
    return OperandDesc{x.rows,         x.cols,
                       x.ld,           x.layout,
                       x.batch_stride, alignment_of(reinterpret_cast<std::uintptr_t>(x.data))};
  };
  GemmDesc desc;
  desc.dtype = p.dtype;
  desc.space = p.space;
  desc.device = p.device;
  desc.op_a = p.trans_a ? Op::kT : Op::kN;
  desc.op_b = p.trans_b ? Op::kT : Op::kN;
  desc.a = operand(p.a);
  desc.b = operand(p.b);
  desc.c = operand(p.c);
  desc.batch = p.batch;
  return desc;
}

std::shared_ptr<const Plan> cached_plan(const Product& product) {
  // Never destroyed: a product may be made while the process ends.
  static auto& plans = *new std::map<Key, std::shared_ptr<const Plan>>;
  const GemmDesc desc = describe(product);
  Key key = key_of(desc, product.options);
  const auto found = plans.find(key);
  if (found != plans.end()) return found->second;
  auto plan = std::make_shared<const Plan>(desc, product.options);
  if (plans.size() >= kMostPlans) plans.clear();
  return plans[std::move(key)] = std::move(plan);
}

}  // namespace tessera::python
