// Elements of a matrix as bytes, and the matrices that a lone kernel was run on as a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::simt {

/// element: "float", "double", "half", "bfloat16", "int".
std::size_t element_bytes(const std::string& element);
double load_element(const std::string& element, const void* p);
void store_element(const std::string& element, void* p, double x);
std::vector<double> read_elements(const std::string& element, const void* p, std::int64_t count);

/// Matrices as bytes, dense and row-major.
struct DrivenProduct {
  std::vector<char> a, b, c_before;
  std::vector<char> c;  ///< empty when the run did not get to its end, or not through all blocks
};

/// Each call appends one matrix, in the order of DrivenProduct. Throws Error(kOutputFailure).
void append_matrix(const std::string& path, const std::vector<char>& matrix);
/// Throws Error(kBadFile) when the inputs are not all there.
DrivenProduct read_product(const std::string& path);

}  // namespace tessera::simt
