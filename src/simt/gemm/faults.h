// The faults that kernels of matrix products are known to have, as predictions of C.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "simt/gemm/evidence.h"

namespace tessera::simt {

/// Nothing stored, C kept, alpha and beta in the wrong places.
std::vector<Fault> scalar_faults(const Evidence& evidence);
/// Transposes, swapped operands, wrong leading dimensions, shifts.
std::vector<Fault> layout_faults(const Evidence& evidence);
/// Terms of the sum over K left out or taken twice.
std::vector<Fault> depth_faults(const Evidence& evidence);
/// A tile read transposed, or the same tile in every step.
std::vector<Fault> tile_faults(const Evidence& evidence);
/// Loads of A and B under the guard of C, which zero part of the last tiles.
std::vector<Fault> edge_faults(const Evidence& evidence);
/// Sums that go on from those of another element.
std::vector<Fault> carry_faults(const Evidence& evidence);
/// K rounded up to whole tiles: A runs on into its next row, and B into what lies behind it.
std::optional<Fault> overrun_fault(const Evidence& evidence);
/// Right, but only as far as an 11-bit significand of the operands allows.
std::vector<Fault> precision_faults(const Evidence& evidence);

/// Tile sizes to try, those that the block and grid suggest first; each once, 2 to 128.
std::vector<std::int64_t> likely_tiles(const Product& product);

/// Elements by their row-major address; no value outside.
inline std::optional<double> element(const std::vector<double>& matrix, std::int64_t address) {
  if (address < 0 || address >= static_cast<std::int64_t>(matrix.size())) return {};
  return matrix[static_cast<std::size_t>(address)];
}

struct Sum {
  double value = 0, magnitude = 0;
  bool known = true;
  void add(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) {
      known = false;
      return;
    }
    value += *a * *b;
    magnitude += std::fabs(*a * *b);
  }
};

/// alpha * sum + beta * C0 of sum over p < depth of a(i, p) * b(p, j), each an optional<double>.
template <class A, class B>
Predict product_of(const Evidence& evidence, std::int64_t depth, A a, B b) {
  return [&evidence, depth, a, b](std::int64_t i, std::int64_t j) -> std::optional<Predicted> {
    Sum sum;
    for (std::int64_t p = 0; p < depth && sum.known; ++p) sum.add(a(i, p), b(p, j));
    if (!sum.known) return {};
    return evidence.scaled(sum.value, sum.magnitude, i, j);
  };
}

}  // namespace tessera::simt
