#include "simt/gemm/region.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::simt {
namespace {

constexpr std::int64_t kLongestPattern = 128;

/// Rows (or columns) with a wrong element, and how many there are.
struct Lines {
  std::vector<std::int64_t> wrong;  ///< ascending
  std::int64_t all = 0;
  bool every() const { return static_cast<std::int64_t>(wrong.size()) == all; }
  bool is_run() const {
    return wrong.back() - wrong.front() + 1 == static_cast<std::int64_t>(wrong.size());
  }
  bool is_tail() const { return is_run() && wrong.back() == all - 1 && !every(); }
};

Lines lines(const std::vector<bool>& has) {
  Lines out;
  out.all = static_cast<std::int64_t>(has.size());
  for (std::size_t i = 0; i < has.size(); ++i) {
    if (has[i]) out.wrong.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

/// "3, 19, 35 ... (3 modulo 16)", or empty when no short period explains the lines.
std::string pattern(const Lines& x) {
  for (std::int64_t period = 2; period <= std::min(kLongestPattern, x.all / 2); ++period) {
    std::vector<bool> in(static_cast<std::size_t>(period));
    for (std::int64_t line : x.wrong) in[static_cast<std::size_t>(line % period)] = true;
    std::vector<std::int64_t> remainders;
    std::int64_t expected = 0;
    for (std::int64_t r = 0; r < period; ++r) {
      if (!in[static_cast<std::size_t>(r)]) continue;
      remainders.push_back(r);
      expected += (x.all - r + period - 1) / period;
    }
    if (expected != static_cast<std::int64_t>(x.wrong.size())) continue;
    if (static_cast<std::int64_t>(remainders.size()) == period) continue;
    return fmt::format("whose index modulo {} is {}", period, ranges(remainders));
  }
  return "";
}

class Finder {
 public:
  Finder(std::int64_t m, std::int64_t n, const std::vector<bool>& wrong,
         const std::vector<bool>& judged)
      : m_(m), n_(n), wrong_(wrong), judged_(judged) {}

  Region find() {
    std::vector<bool> rows(static_cast<std::size_t>(m_)), columns(static_cast<std::size_t>(n_));
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        if (!is_wrong(i, j)) continue;
        rows[static_cast<std::size_t>(i)] = columns[static_cast<std::size_t>(j)] = true;
        ++count_;
      }
    }
    r_ = lines(rows);
    c_ = lines(columns);
    off_diagonal() || whole() || tails() || both_tails() || rectangle() || by_pattern() ||
        scattered();
    return out_;
  }

 private:
  bool is_wrong(std::int64_t i, std::int64_t j) const {
    return wrong_[static_cast<std::size_t>(i * n_ + j)];
  }
  bool is_judged(std::int64_t i, std::int64_t j) const {
    return judged_[static_cast<std::size_t>(i * n_ + j)];
  }
  bool say(RegionKind kind, const std::string& text) {
    out_.kind = kind;
    out_.text = text;
    return true;
  }

  /// Whether nearly all judged elements that `in` accepts are wrong; a few may be right by chance.
  template <class F>
  bool fills(F in) const {
    std::int64_t area = 0;
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) area += is_judged(i, j) && in(i, j);
    }
    return count_ * 100 >= area * 95;
  }

  bool whole() {
    if (!fills([](std::int64_t, std::int64_t) { return true; })) return false;
    return say(RegionKind::kAll, count_ == m_ * n_ ? "everywhere" : "nearly everywhere");
  }

  bool off_diagonal() {
    for (std::int64_t i = 0; i < std::min(m_, n_); ++i) {
      if (is_wrong(i, i)) return false;
    }
    if (!fills([](std::int64_t i, std::int64_t j) { return i != j; })) return false;
    return say(RegionKind::kOffDiagonal, "everywhere but on the diagonal");
  }

  bool tails() {
    if (r_.is_tail() && c_.every()) {
      out_.first_row = r_.wrong.front();
      if (fills([&](std::int64_t i, std::int64_t) { return i >= out_.first_row; })) {
        return say(RegionKind::kTailRows, "in the tail of M, " + named("row", r_.wrong));
      }
    }
    if (c_.is_tail() && r_.every()) {
      out_.first_column = c_.wrong.front();
      if (fills([&](std::int64_t, std::int64_t j) { return j >= out_.first_column; })) {
        return say(RegionKind::kTailColumns, "in the tail of N, " + named("column", c_.wrong));
      }
    }
    return false;
  }

  /// The first row that is wrong from end to end, likewise the first column; nothing outside them.
  bool both_tails() {
    const auto row_is = [&](std::int64_t i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        if (is_judged(i, j) && !is_wrong(i, j)) return false;
      }
      return true;
    };
    const auto column_is = [&](std::int64_t j) {
      for (std::int64_t i = 0; i < m_; ++i) {
        if (is_judged(i, j) && !is_wrong(i, j)) return false;
      }
      return true;
    };
    std::int64_t row = m_, column = n_;
    while (row > 0 && row_is(row - 1)) --row;
    while (column > 0 && column_is(column - 1)) --column;
    if (row == m_ || column == n_ || row == 0 || column == 0) return false;
    for (std::int64_t i = 0; i < row; ++i) {
      for (std::int64_t j = 0; j < column; ++j) {
        if (is_wrong(i, j)) return false;
      }
    }
    out_.first_row = row;
    out_.first_column = column;
    return say(RegionKind::kTailBoth,
               fmt::format("in the last {} and the last {}, the tails of M and N",
                           counted(m_ - row, "row"), counted(n_ - column, "column")));
  }

  bool rectangle() {
    if (!r_.is_run() || !c_.is_run()) return false;
    const std::int64_t i0 = r_.wrong.front(), j0 = c_.wrong.front();
    const std::int64_t i1 = r_.wrong.back(), j1 = c_.wrong.back();
    const auto inside = [&](std::int64_t i, std::int64_t j) {
      return i >= i0 && i <= i1 && j >= j0 && j <= j1;
    };
    if (!fills(inside)) return false;
    out_.first_row = i0;
    out_.first_column = j0;
    if (count_ == 1)
      return say(RegionKind::kRectangle, fmt::format("in one element, [{}][{}]", i0, j0));
    return say(RegionKind::kRectangle,
               fmt::format("in one {} x {} piece, {} and {}", i1 - i0 + 1, j1 - j0 + 1,
                           named("row", r_.wrong), named("column", c_.wrong)));
  }

  bool by_pattern() {
    const std::string rows = r_.every() ? "" : pattern(r_);
    const std::string columns = c_.every() ? "" : pattern(c_);
    if (!rows.empty() && c_.every()) return say(RegionKind::kRowPattern, "in the rows " + rows);
    if (!columns.empty() && r_.every()) {
      return say(RegionKind::kColumnPattern, "in the columns " + columns);
    }
    return false;
  }

  bool scattered() {
    const std::int64_t i = r_.wrong.front();
    std::int64_t j = 0;
    while (!is_wrong(i, j)) ++j;
    return say(RegionKind::kScattered,
               fmt::format("in scattered elements, the first [{}][{}]", i, j));
  }

  std::int64_t m_, n_, count_ = 0;
  const std::vector<bool>& wrong_;
  const std::vector<bool>& judged_;
  Lines r_, c_;
  Region out_;
};

}  // namespace

Region find_region(std::int64_t m, std::int64_t n, const std::vector<bool>& wrong,
                   const std::vector<bool>& judged) {
  return Finder(m, n, wrong, judged).find();
}

std::string ranges(const std::vector<std::int64_t>& x) {
  constexpr std::size_t kMostParts = 4;
  std::string out;
  std::size_t parts = 0;
  for (std::size_t i = 0; i < x.size();) {
    std::size_t end = i + 1;
    while (end < x.size() && x[end] == x[end - 1] + 1) ++end;
    if (++parts > kMostParts) return out + fmt::format(" and {} more", x.size() - i);
    out += (out.empty() ? "" : ", ") + std::to_string(x[i]);
    if (end - i > 1) out += " to " + std::to_string(x[end - 1]);
    i = end;
  }
  return out;
}

std::string named(const std::string& thing, const std::vector<std::int64_t>& ascending) {
  return thing + (ascending.size() == 1 ? " " : "s ") + ranges(ascending);
}

std::string counted(std::int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace tessera::simt
