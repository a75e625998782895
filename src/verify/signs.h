// Random signs by counter: the sign of column j in round r depends on (seed, j, r) only.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::verify_detail {

/// n vectors' worth of signs: row j holds element j of every round.
class Signs {
 public:
  /// `columns` rounds, a multiple of 8, at most 64.
  Signs(std::uint64_t seed, std::int64_t columns) : seed_(seed), columns_(columns) {}
  std::int64_t columns() const { return columns_; }

  /// Rows j0 .. j0 + count as +1 and -1 at out[j * columns() + r]; all zero for the rows where
  /// `skip` (one flag per j, or empty) is set.
  void expand(std::int64_t j0, std::int64_t count, const std::vector<unsigned char>& skip,
              double* out) const;

 private:
  std::uint64_t seed_;
  std::int64_t columns_;
};

}  // namespace tessera::verify_detail
