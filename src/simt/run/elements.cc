#include "simt/run/elements.h"

#include <fmt/format.h>

#include <fstream>

#include "simt/run/numbers.h"
#include "tessera/error.h"

namespace tessera::simt {

std::size_t element_bytes(const std::string& element) {
  return element == "double" ? 8 : element == "half" || element == "bfloat16" ? 2 : 4;
}

double load_element(const std::string& element, const void* p) {
  if (element == "double") return *static_cast<const double*>(p);
  if (element == "half") return half_to_float(*static_cast<const std::uint16_t*>(p));
  if (element == "bfloat16") return bfloat_to_float(*static_cast<const std::uint16_t*>(p));
  if (element == "int") return *static_cast<const std::int32_t*>(p);
  return *static_cast<const float*>(p);
}

void store_element(const std::string& element, void* p, double x) {
  if (element == "double") {
    *static_cast<double*>(p) = x;
  } else if (element == "half") {
    *static_cast<std::uint16_t*>(p) = float_to_half(static_cast<float>(x));
  } else if (element == "bfloat16") {
    *static_cast<std::uint16_t*>(p) = float_to_bfloat(static_cast<float>(x));
  } else if (element == "int") {
    *static_cast<std::int32_t*>(p) = static_cast<std::int32_t>(x);
  } else {
    *static_cast<float*>(p) = static_cast<float>(x);
  }
}

std::vector<double> read_elements(const std::string& element, const void* p, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  const std::size_t bytes = element_bytes(element);
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = load_element(element, static_cast<const char*>(p) + i * bytes);
  }
  return values;
}

void append_matrix(const std::string& path, const std::vector<char>& matrix) {
  std::ofstream out(path, std::ios::binary | std::ios::app);
  const std::uint64_t bytes = matrix.size();
  out.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  out.write(matrix.data(), static_cast<std::streamsize>(bytes));
  if (!out.flush()) {
    throw Error(ErrorCode::kOutputFailure, fmt::format("check: cannot write {}", path));
  }
}

DrivenProduct read_product(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  DrivenProduct product;
  for (std::vector<char>* matrix : {&product.a, &product.b, &product.c_before, &product.c}) {
    std::uint64_t bytes = 0;
    if (!in.read(reinterpret_cast<char*>(&bytes), sizeof bytes)) {
      if (matrix == &product.c) break;
      throw Error(ErrorCode::kBadFile, fmt::format("check: {} lacks its matrices", path));
    }
    matrix->resize(bytes);
    if (!in.read(matrix->data(), static_cast<std::streamsize>(bytes))) {
      throw Error(ErrorCode::kBadFile, fmt::format("check: {} is cut off", path));
    }
  }
  return product;
}

}  // namespace tessera::simt
