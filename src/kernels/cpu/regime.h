// Which path of the CPU leads for which products: one table.
//
//   regime    products                         why another path loses there
//
//   matvec    m = 1 or n = 1                   each element of the matrix is used once, so packing
//                                              would double what memory moves
//   skinny    few rows, op(B) beyond L2, and   B must pass once, in the order it lies; blocks
//             neither narrow nor shallow if    would read it with jumps
//             it lies row by row
//   direct    all fits L2, or A lies row by    a copy of A takes longer than reading its rows where
//             row and C is narrow or L2 large, they lie: a strip of few rows serves all the columns
//             or the depth is small            that a large L2 holds of B
//   blocked   all others                       only copies keep large operands in caches
//
// Operands of 16 bits have no direct path: they are widened by being copied. Of small depth, C is
// what takes the time: c03_direct writes rows of it in long runs, and where no cache holds it,
// c02_blocked writes it past them.
//
// What each path expects, and why it is right, stands at the head of its file.
#pragma once

#include <cstdint>

#include "tessera/kernel.h"

namespace tessera {

enum class Regime { kMatvec, kSkinny, kDirect, kBlocked };

/// Rows of C that are still few.
inline constexpr std::int64_t kFewRows = 24;

/// The row of the table: of sizes, ops and caches only.
Regime regime_of(const Problem& p, const DeviceInfo& device);

/// Predicted time of the path for `regime` in microseconds: shorter than that of c02_blocked in its
/// own row of the table, longer elsewhere.
double estimate_us(Regime regime, const Problem& p, const DeviceInfo& device);

}  // namespace tessera
