#include "simt/gemm/store_overrun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tessera::simt {
namespace {

/// A thread with one element: how many columns its launch has past the n, when it stores one of
/// them to `element` of C; 0 when it does not.
std::int64_t columns_past(const Thread& t, const Launch& launch, std::int64_t n,
                          std::int64_t element) {
  const auto index = [&](std::size_t axis) {
    return std::int64_t{t.block[axis]} * launch.block[axis] + t.thread[axis];
  };
  for (const auto& [across, down] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 0}}) {
    if (index(across) >= n && index(down) * n + index(across) == element) {
      return std::int64_t{launch.grid[across]} * launch.block[across] - n;
    }
  }
  return 0;
}

/// The same of a thread with some number of elements in the last block of columns. That the store
/// leaves C as well, where it runs over the end of the last row, tells it from other races.
std::int64_t columns_past_of_block(const Thread& t, const Thread& owner, const Finding& outside,
                                   const Launch& launch, std::int64_t n, std::int64_t element) {
  for (const std::size_t across : {0, 1}) {
    const unsigned blocks = launch.grid[across];
    if (blocks < 2 || t.block[across] + 1 != blocks || owner.block[across] != 0 ||
        outside.thread->block[across] + 1 != blocks) {
      continue;
    }
    for (std::int64_t tile = 8; tile <= 256; tile *= 2) {
      const std::int64_t excess = blocks * tile - n;
      if ((n + tile - 1) / tile == blocks && element % n < excess) return excess;
    }
  }
  return 0;
}

bool is_race(const Finding& f) {
  return (f.rule == rule::kBlockRace || f.rule == rule::kGlobalRace) && f.other_place;
}

std::int64_t named(Finding& f, const std::vector<Finding>& all, const Launch& launch,
                   std::int64_t n) {
  const bool is_one_store = is_race(f) && *f.other_place == f.place;
  if (!is_one_store || !f.thread || !f.other_thread || f.element.size() < 3) return 0;
  const std::int64_t element = std::strtoll(f.element.c_str() + 1, nullptr, 10);
  const std::int64_t row = element / n, column = element % n;
  if (row == 0) return 0;
  const auto outside = std::find_if(all.begin(), all.end(), [&](const Finding& o) {
    return o.rule == rule::kGlobalBounds && o.array == f.array && o.thread &&
           o.place.line == f.place.line;
  });
  Thread past = *f.thread, owner = *f.other_thread;
  const auto excess_of = [&](const Thread& one, const Thread& other) {
    const std::int64_t own = columns_past(one, launch, n, element);
    if (own > 0 || outside == all.end()) return own;
    return columns_past_of_block(one, other, *outside, launch, n, element);
  };
  std::int64_t excess = excess_of(past, owner);
  if (excess == 0) {
    std::swap(past, owner);
    excess = excess_of(past, owner);
  }
  if (excess == 0) return 0;
  f.rule = rule::kRowOverrun;
  f.message = fmt::format(
      "{0} writes {1}[{2}][{3}], past the end of the row: it lands in {1}[{4}][{5}], which {6} "
      "writes too, and which value stays is a matter of chance",
      to_string(past), f.array, row - 1, n + column, row, column, to_string(owner));
  f.remedy = fmt::format("guard the store to {} with its own column: column < N", f.array);
  f.element = fmt::format("[{}][{}]", row - 1, n + column);
  f.thread = past;
  f.other_thread = owner;
  return excess;
}

}  // namespace

std::int64_t name_store_overrun(std::vector<Finding>& findings, const Launch& launch,
                                std::int64_t n) {
  std::int64_t excess = 0;
  if (n < 1) return 0;
  for (Finding& f : findings) excess = std::max(excess, named(f, findings, launch, n));
  if (excess == 0) return 0;
  // A store that adds to C reads it as well, and so races in more ways than one.
  const auto is_named = [&](const Finding& race) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.rule == rule::kRowOverrun && f.array == race.array && f.other_place &&
             f.place.line == race.place.line && f.place.line == race.other_place->line;
    });
  };
  std::vector<Finding> rest;
  for (const Finding& f : findings) {
    if (!is_race(f) || !is_named(f)) rest.push_back(f);
  }
  findings = std::move(rest);
  return excess;
}

}  // namespace tessera::simt
