// Shapes from file headers: products that cannot wrap, and the rule that makes a matrix of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/tensor.h"

namespace tessera::io {

/// "(2, 3)", "(4,)", "()" as in Python.
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Bits of a tensor with these sizes (each >= 0); nothing when they do not fit in 63 bits.
std::optional<std::int64_t> bits_of(const std::vector<std::int64_t>& shape,
                                    std::int64_t bits_per_element);

/// Sets shape, rows and cols of a matrix: () is 1 x 1, (n,) is 1 x n, (r, c) is r x c. More
/// dimensions are refused, or where any rank will do are all but the last in the rows (in Fortran
/// order all but the first in the columns). `what` names the tensor in the message.
void set_shape(FileMatrix& matrix, const std::string& file, const std::string& what,
               const std::vector<std::int64_t>& shape, bool fortran_order, Rank rank);

}  // namespace tessera::io
