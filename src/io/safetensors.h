// The safetensors format: an 8-byte length, a JSON header, and the bytes of the tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/tensor.h"

namespace tessera::io {

/// The format's own cap on the length of the header.
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;

struct SafetensorsEntry : TensorEntry {
  std::uint64_t begin = 0, end = 0;  ///< in bytes from the end of the header
};

/// The tensors of a file in the order of its header; their bytes lie within `data`.
struct SafetensorsFile {
  std::vector<SafetensorsEntry> entries;
  std::span<const std::byte> data;
};

/// The tensors that the JSON text declares: names and fields unique, sizes and offsets whole
/// numbers. Throws Error(kBadFile) naming `file`.
std::vector<SafetensorsEntry> parse_safetensors_header(std::span<const std::byte> json,
                                                       const std::string& file);

/// Reads the header and checks the layout of the whole file: every tensor as long as its shape
/// says, and together covering the data without overlap or hole. Types that cannot be read are
/// listed all the same. `name` goes into messages only. Throws Error(kBadFile).
SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

/// One tensor as a matrix. Refuses a missing one with the nearest names, and a type or shape that
/// is no readable matrix. The bytes of `file` must outlive it unless the caller sets `mapping`.
FileMatrix find_tensor(const SafetensorsFile& file, const std::string& name,
                       const std::string& tensor, Rank rank = Rank::kMatrix);

}  // namespace tessera::io
