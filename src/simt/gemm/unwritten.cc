#include "simt/gemm/unwritten.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/gemm/region.h"

namespace tessera::simt {
namespace {

using Lines = std::vector<std::int64_t>;

struct Unwritten {
  Lines rows, columns;
  std::int64_t count = 0, others = 0;  ///< others: in none of those rows and columns
  std::int64_t row = -1, column = -1;  ///< the first of the others
};

Unwritten look(const Product& x) {
  Unwritten out;
  std::vector<std::int64_t> in_row(static_cast<std::size_t>(x.m)),
      in_column(static_cast<std::size_t>(x.n));
  const auto missing = [&](std::int64_t i, std::int64_t j) {
    return !x.written[static_cast<std::size_t>(i * x.n + j)];
  };
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      if (!missing(i, j)) continue;
      ++in_row[static_cast<std::size_t>(i)];
      ++in_column[static_cast<std::size_t>(j)];
      ++out.count;
    }
  }
  const auto full_row = [&](std::int64_t i) { return in_row[static_cast<std::size_t>(i)] == x.n; };
  const auto full_column = [&](std::int64_t j) {
    return in_column[static_cast<std::size_t>(j)] == x.m;
  };
  for (std::int64_t i = 0; i < x.m; ++i) {
    if (full_row(i)) out.rows.push_back(i);
  }
  for (std::int64_t j = 0; j < x.n; ++j) {
    if (full_column(j)) out.columns.push_back(j);
  }
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      if (!missing(i, j) || full_row(i) || full_column(j)) continue;
      if (out.others++ == 0) {
        out.row = i;
        out.column = j;
      }
    }
  }
  return out;
}

std::string message(const Product& x, const Unwritten& u) {
  if (u.count == x.m * x.n) return "no element of " + x.name_c + " was written";
  std::string who, where;
  if (!u.rows.empty()) {
    who = counted(static_cast<std::int64_t>(u.rows.size()), "row");
    where = named("row", u.rows);
  }
  if (!u.columns.empty()) {
    who += (who.empty() ? "" : " and ") +
           counted(static_cast<std::int64_t>(u.columns.size()), "column");
    where += (where.empty() ? "" : ", ") + named("column", u.columns);
  }
  if (u.others > 0) {
    who += (who.empty() ? "" : " and ") + std::string(who.empty() ? "" : "besides ") +
           counted(u.others, "element");
    where += (where.empty() ? "" : ", ") +
             fmt::format("the first {}[{}][{}]", x.name_c, u.row, u.column);
  }
  return who + " of " + x.name_c + " never written: " + where;
}

/// Lines behind the first `start` are missing although `size` were asked for: which axis of the
/// grid covers exactly `start`?
std::string short_grid(const Product& x, const Lines& lines, std::int64_t size, const char* letter,
                       std::initializer_list<int> axes) {
  if (lines.empty() || lines.back() != size - 1) return "";
  const std::int64_t start = lines.front();
  if (start == 0 || size - start != static_cast<std::int64_t>(lines.size())) return "";
  for (int axis : axes) {
    const std::int64_t blocks = x.grid[static_cast<std::size_t>(axis)];
    if (blocks < 1 || start % blocks != 0) continue;
    const std::int64_t tile = start / blocks;
    // A grid that would do if rounded up is the fault; one block of everything is not.
    if ((size + tile - 1) / tile <= blocks || tile == 1) continue;
    return fmt::format(
        "grid.{} = {} blocks of {} cover {} of {} = {}: round the number of blocks up, "
        "({} + {}) / {}",
        "xyz"[axis], blocks, tile, start, letter, size, letter, tile - 1, tile);
  }
  return "";
}

std::string remedy(const Product& x, const Unwritten& u) {
  if (u.count == x.m * x.n) {
    return "store each thread's sum to " + x.name_c +
           "[row * N + col], and check that the guard of the store can be true";
  }
  const std::string rows = short_grid(x, u.rows, x.m, "M", {1, 0});
  const std::string columns = short_grid(x, u.columns, x.n, "N", {0, 1});
  if (!rows.empty() || !columns.empty()) {
    return rows + (rows.empty() || columns.empty() ? "" : "; ") + columns;
  }
  return "check the guard and the index of the store to " + x.name_c +
         ", and that the grid covers all of M and N";
}

}  // namespace

std::optional<Finding> find_unwritten(const Product& x) {
  if (std::find(x.written.begin(), x.written.end(), false) == x.written.end()) return {};
  const Unwritten u = look(x);
  Finding out;
  out.rule = rule::kNeverWritten;
  out.message = message(x, u);
  out.remedy = remedy(x, u);
  out.kernel = x.kernel;
  out.place = x.place;
  out.array = x.name_c;
  out.count = static_cast<std::uint64_t>(u.count);
  if (u.row >= 0) out.element = fmt::format("[{}][{}]", u.row, u.column);
  return out;
}

}  // namespace tessera::simt
