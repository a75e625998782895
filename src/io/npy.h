// NumPy's .npy format, versions 1.0, 2.0 and 3.0 (numpy.lib.format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/tensor.h"

namespace tessera::io {

struct NpyHeader {
  std::string descr;  ///< as written, e.g. "<f4"
  DType dtype = DType::kF32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;
  std::int64_t data_bytes = 0;
};

/// True when the bytes open as a .npy file does.
bool is_npy(std::span<const std::byte> file);

/// Reads the header and holds it against the size of the file. `name` goes into messages only.
/// Throws Error(kBadFile).
///
/// Bytes after the data are refused. NumPy ignores them, because several arrays may be saved into
/// one stream; but they are also what a header with too small a shape leaves, and a product of the
/// wrong part of the data would look like a right one.
NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name);

/// The array as a matrix over `file`, which must outlive it unless the caller sets `mapping`.
FileMatrix parse_npy(std::span<const std::byte> file, const std::string& name,
                     Rank rank = Rank::kMatrix);

}  // namespace tessera::io
