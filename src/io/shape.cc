#include "io/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "io/message.h"

namespace tessera::io {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMost = 8;
  std::string out = "(";
  for (std::size_t i = 0; i < std::min(shape.size(), kMost); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  }
  if (shape.size() > kMost) out += ", ...";
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::optional<std::int64_t> bits_of(const std::vector<std::int64_t>& shape,
                                    std::int64_t bits_per_element) {
  // A zero size makes the tensor empty however large the others are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t bits = bits_per_element;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bits, size, &bits)) return std::nullopt;
  }
  return bits;
}

void set_shape(FileMatrix& matrix, const std::string& file, const std::string& what,
               const std::vector<std::int64_t>& shape, bool fortran_order, Rank rank) {
  if (shape.size() > 2 && rank == Rank::kMatrix) {
    bad_file(file, fmt::format("{}shape {} has {} dimensions: a matrix has at most 2", what,
                               shape_text(shape), shape.size()));
  }
  matrix.shape = shape;
  // A vector has one order only.
  matrix.layout = fortran_order && shape.size() > 1 ? Layout::kColMajor : Layout::kRowMajor;
  matrix.rows = shape.size() == 2 ? shape[0] : 1;
  matrix.cols = shape.empty() ? 1 : shape.back();
  if (shape.size() <= 2) return;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    matrix.rows = matrix.cols = 0;  // the product of the others need not fit
    return;
  }
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  const bool by_columns = matrix.layout == Layout::kColMajor;
  matrix.rows = by_columns ? shape.front() : product(shape.begin(), shape.end() - 1);
  matrix.cols = by_columns ? product(shape.begin() + 1, shape.end()) : shape.back();
}

}  // namespace tessera::io
