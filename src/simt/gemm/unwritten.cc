#include "simt/gemm/unwritten.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

/// A tile that a side of so many threads may have; 0: unknown.
bool is_likely(std::int64_t tile, std::int64_t threads) {
  return tile > 0 && (threads == 0 || tile % threads == 0 || threads % tile == 0);
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
    if (!is_likely(tile, x.block[static_cast<std::size_t>(axis)])) continue;
    return fmt::format(
        "grid.{} = {} blocks of {} cover {} of {} = {}: round the number of blocks up, "
        "({} + {}) / {}",
        "xyz"[axis], blocks, tile, start, letter, size, letter, tile - 1, tile);
  }
  return "";
}

/// The first of lines that reach to the end; `size` without any.
std::int64_t covered(const Lines& lines, std::int64_t size) {
  const bool is_tail = !lines.empty() && lines.back() == size - 1 &&
                       size - lines.front() == static_cast<std::int64_t>(lines.size());
  return is_tail ? lines.front() : size;
}

/// Fewer rows (or columns) than there are, where the two numbers of blocks exchanged would cover
/// everything: they were given in the wrong order.
std::string swapped_grid(const Product& x, const Unwritten& u) {
  const std::int64_t rows = covered(u.rows, x.m), columns = covered(u.columns, x.n);
  for (const auto& [of_rows, of_columns] : {std::pair(1, 0), std::pair(0, 1)}) {
    const std::int64_t down = x.grid[static_cast<std::size_t>(of_rows)],
                       across = x.grid[static_cast<std::size_t>(of_columns)];
    if (down < 1 || across < 1 || down == across) continue;
    // Tiles by the side that ends too early; the other is like it, or as the block is.
    if ((rows < x.m && rows % down != 0) || (columns < x.n && columns % across != 0)) continue;
    std::int64_t tall = rows < x.m ? rows / down : 0;
    std::int64_t wide = columns < x.n ? columns / across : 0;
    if (tall == 0 && wide == 0) continue;
    const std::int64_t block_down = x.block[static_cast<std::size_t>(of_rows)],
                       block_across = x.block[static_cast<std::size_t>(of_columns)];
    if (tall == 0) tall = wide == block_across ? block_down : wide;
    if (wide == 0) wide = tall == block_down ? block_across : tall;
    if (!is_likely(tall, block_down) || !is_likely(wide, block_across)) continue;
    if (tall < 2 || wide < 2 || across * tall < x.m || down * wide < x.n) continue;
    return fmt::format(
        "exchange the two: the grid ({0},{1}) has its {2} blocks for the rows in {3} and its {4} "
        "for the columns in {5}, but the kernel takes rows from blockIdx.{5} and columns from "
        "blockIdx.{3}; {5} needs (M + {6}) / {7} blocks, and {3} (N + {8}) / {9}",
        x.grid[0], x.grid[1], across, "xyz"[of_columns], down, "xyz"[of_rows], tall - 1, tall,
        wide - 1, wide);
  }
  return "";
}

std::string remedy(const Product& x, const Unwritten& u) {
  if (u.count == x.m * x.n) {
    return "store each thread's sum to " + x.name_c +
           "[row * N + col], and check that the guard of the store can be true";
  }
  if (const std::string swapped = swapped_grid(x, u); !swapped.empty()) return swapped;
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
