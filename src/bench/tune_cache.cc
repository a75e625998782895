#include "bench/tune_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/canonical.h"
#include "tessera/kernel.h"

namespace tessera::bench {
namespace {

/// Wide loads are of 16 bytes at most: a kernel cannot tell larger alignments apart.
constexpr int kWidest = 16;

std::string alignment_text(char name, int alignment, std::int64_t ld, bool steps,
                           std::int64_t stride, std::int64_t batch, DType dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto of = [&](std::int64_t count) {
    return std::min(kWidest, alignment_of(static_cast<std::uintptr_t>(count * size)));
  };
  // What leading dimension and stride leave is known from them.
  int plain = steps ? of(ld) : kWidest;
  if (batch > 1 && stride != 0) plain = std::min(plain, of(stride));
  return std::min(alignment, kWidest) < plain ? fmt::format("{} at {} bytes", name, alignment) : "";
}

std::string form_text(const Problem& p, bool reads_c) {
  std::vector<std::string> parts;
  const auto add = [&](std::string text) {
    if (!text.empty()) parts.push_back(std::move(text));
  };
  const std::int64_t row_a = p.trans_a ? p.m : p.k, row_b = p.trans_b ? p.k : p.n;
  if (p.lda != row_a) add(fmt::format("lda {}", p.lda));
  if (p.ldb != row_b) add(fmt::format("ldb {}", p.ldb));
  if (p.ldc != p.n) add(fmt::format("ldc {}", p.ldc));
  if (p.batch != 1) {
    add(fmt::format("batch {} of {} {} {}", p.batch, p.stride_a, p.stride_b, p.stride_c));
  }
  const bool steps_a = (p.trans_a ? p.k : p.m) > 1, steps_b = (p.trans_b ? p.n : p.k) > 1;
  add(alignment_text('A', p.align_a, p.lda, steps_a, p.stride_a, p.batch, p.input_dtype()));
  add(alignment_text('B', p.align_b, p.ldb, steps_b, p.stride_b, p.batch, p.input_dtype()));
  add(alignment_text('C', p.align_c, p.ldc, p.m > 1, p.stride_c, p.batch, p.dtype));
  if (reads_c) add("reads C");
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool faster(const TunedShape& shape, const std::string& x, const std::string& y) {
  return shape.kernels.at(x).median_s < shape.kernels.at(y).median_s;
}

bool passed(const TunedShape& shape, const std::string& id) {
  const auto found = shape.kernels.find(id);
  return found != shape.kernels.end() && found->second.passed();
}

/// The better of two winners, either of which may be none.
std::string better(const TunedShape& shape, const std::string& x, const std::string& y) {
  if (!passed(shape, x)) return passed(shape, y) ? y : "";
  if (!passed(shape, y)) return x;
  return faster(shape, y, x) ? y : x;
}

}  // namespace

TuneShape tune_shape(const Case& c) {
  const Problem p = canonicalise(c.desc, {}).problem;
  const std::string ops = {p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N'};
  return {p.m, p.n, p.k, ops, p.input_dtype(), form_text(p, c.beta != 0)};
}

std::string to_string(const TuneShape& shape) {
  std::string text = fmt::format("{}x{}x{} {}", shape.m, shape.n, shape.k, shape.ops);
  if (shape.dtype != DType::kF32) text += fmt::format(" {}", to_string(shape.dtype));
  if (!shape.form.empty()) text += fmt::format(" ({})", shape.form);
  return text;
}

std::vector<std::string> TunedShape::by_merit() const {
  std::vector<std::string> ids;
  for (const auto& [id, timing] : kernels) {
    if (timing.passed()) ids.push_back(id);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](const std::string& x, const std::string& y) {
    return x != y && (x == winner || (y != winner && faster(*this, x, y)));
  });
  return ids;
}

const TuneCache::Shapes* TuneCache::find(const DeviceKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

const TunedShape* TuneCache::find(const DeviceKey& key, const TuneShape& shape) const {
  const Shapes* shapes = find(key);
  if (shapes == nullptr) return nullptr;
  const auto found = shapes->find(shape);
  return found == shapes->end() ? nullptr : &found->second;
}

void TuneCache::put(const DeviceKey& key, const TuneShape& shape, const TunedShape& contest) {
  TunedShape& kept = entries_[key][shape];
  for (const auto& [id, timing] : contest.kernels) kept.kernels[id] = timing;
  const bool took_part = contest.kernels.count(kept.winner) > 0;
  kept.winner = better(kept, contest.winner, took_part ? "" : kept.winner);
}

void TuneCache::merge(const TuneCache& other) {
  for (const auto& [key, shapes] : other.entries_) {
    for (const auto& [shape, theirs] : shapes) {
      TunedShape& ours = entries_[key][shape];
      for (const auto& [id, timing] : theirs.kernels) {
        const auto [at, added] = ours.kernels.try_emplace(id, timing);
        if (!added && timing.date > at->second.date) at->second = timing;
      }
      ours.winner = better(ours, ours.winner, theirs.winner);
    }
  }
}

}  // namespace tessera::bench
