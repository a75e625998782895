// The FP64 inner loops of the check: a small product, sums of squares, rounding, over
// blocks in cache.
#pragma once

#include <cstdint>

namespace tessera::verify_detail {

/// acc(i, j) += sum over p of l(i, p) * r(p, j), all FP64, i < rows, p < inner, j < cols.
///
///   l(i, p) = l[i * l_row + p * l_inner]     any strides, so that a block may be used transposed
///   r(p, j) = r[p * ldr + j]                 cols, ldr and ld_acc are multiples of 8
///   acc(i, j) = acc[i * ld_acc + j]
void add_product(std::int64_t rows, std::int64_t inner, std::int64_t cols, const double* l,
                 std::int64_t l_row, std::int64_t l_inner, const double* r, std::int64_t ldr,
                 double* acc, std::int64_t ld_acc);

/// Rounds every element to the nearest binary32 number, in place, as a conversion to float does;
/// cols is a multiple of 8.
void round_to_f32(std::int64_t rows, std::int64_t cols, double* block, std::int64_t ld);

/// out[i] += sum over j of block[i * ld + j]^2; cols is a multiple of 8.
void add_row_squares(std::int64_t rows, std::int64_t cols, const double* block, std::int64_t ld,
                     double* out);
/// out[j] += sum over i of block[i * ld + j]^2; cols is a multiple of 8 and so is the room in out.
void add_col_squares(std::int64_t rows, std::int64_t cols, const double* block, std::int64_t ld,
                     double* out);

}  // namespace tessera::verify_detail
