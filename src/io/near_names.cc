#include "io/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::io {
namespace {

/// Longer names are left out: the distance costs the product of the lengths.
constexpr std::size_t kLongestName = 200;

/// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names,
                                    std::size_t most) {
  std::vector<std::pair<std::size_t, const std::string*>> found;
  if (wanted.size() > kLongestName) return {};
  const std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3);
  for (const std::string& name : names) {
    if (name.size() > kLongestName) continue;
    const std::size_t gap =
        std::max(name.size(), wanted.size()) - std::min(name.size(), wanted.size());
    const bool inside = !wanted.empty() && !name.empty() &&
                        (name.find(wanted) != name.npos || wanted.find(name) != wanted.npos);
    if (inside) {
      found.emplace_back(gap, &name);
    } else if (gap <= limit) {
      const std::size_t distance = edit_distance(wanted, name);
      if (distance <= limit) found.emplace_back(distance, &name);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first < y.first : *x.second < *y.second;
  });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) out.push_back(*found[i].second);
  return out;
}

}  // namespace tessera::io
