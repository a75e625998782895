// Column-major products. Their memory is that of a row-major one, C^T = B^T * A^T, so they are
// judged as that, and what is found is said of A, B and C afterwards.
#pragma once

#include <string>

#include "simt/model.h"

namespace tessera::simt {

/// A sentence about the row-major C^T = B^T * A^T, said of the column-major C = A * B: rows and
/// columns, M and N, A and B change places.
std::string in_column_major(const std::string& text);
Finding in_column_major(Finding finding);

}  // namespace tessera::simt
