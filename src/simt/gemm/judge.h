// Is C the product, and if not, which guard or index is at fault?
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// A product as a kernel was asked for it, with its matrices in host-readable memory, widened to
/// double; row-major, dense (padding already taken out).
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<double> a, b;      ///< m x k, k x n
  std::vector<double> c_before;  ///< m x n; empty when C is not read
  std::vector<double> c;         ///< what the kernel left
  std::vector<bool> written;     ///< m x n: elements of C that were stored to
  std::int64_t disputed = 0;     ///< first columns of C that stores past the row before end up in
  double alpha = 1, beta = 0;
  std::string element = "float";  ///< of C
  // What is known of the launch, for the words of a finding.
  std::string kernel;
  Place place;
  std::array<unsigned, 3> grid{}, block{};
  bool is_tiled = true;  ///< it has shared memory
  std::string name_a = "A", name_b = "B", name_c = "C";
};

/// Findings never-written and wrong-result. A wrong result names the region (tail of M, N or K, a
/// tile, everything) and, when one of the known faults reproduces it, that fault: C transposed, a
/// K tail dropped, K rounded up into the next row, A or B read transposed, a tile skipped, the
/// accumulator not cleared, alpha or beta left out. Finding::array is then the matrix whose index
/// or guard is at fault, or C.
std::vector<Finding> judge(const Product& product);

}  // namespace tessera::simt
