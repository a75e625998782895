// The Python dict literal in the header of a .npy file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::io {

struct NpyLiteral {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Parses the literal: exactly the keys descr, fortran_order and shape, in any order, with any
/// white space and an optional trailing comma. Throws Error(kBadFile) naming `file` and the field.
NpyLiteral parse_npy_literal(std::string_view text, const std::string& file);

}  // namespace tessera::io
