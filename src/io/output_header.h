// Headers of the files we write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/precision.h"

namespace tessera::io {

/// The bytes before the data of an array in C order; a multiple of 64 long, so that the
/// data is aligned for any vector width. The format follows the name of the file: .safetensors (one
/// tensor named `tensor`) or else .npy version 1.0. Refuses with Error(kOutputFailure) a dtype that
/// the format cannot hold.
std::string output_header(const std::string& path, DType dtype,
                          const std::vector<std::int64_t>& shape, std::int64_t data_bytes,
                          const std::string& tensor);

/// True when `path` names a .safetensors file.
bool is_safetensors_name(const std::string& path);

}  // namespace tessera::io
