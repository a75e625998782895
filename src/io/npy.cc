#include "io/npy.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "io/message.h"
#include "io/npy_literal.h"
#include "io/shape.h"

namespace tessera::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeCode {
  std::string_view code;  // kind and bytes per element
  DType dtype;
};
constexpr std::array<TypeCode, 12> kTypes = {{{"f2", DType::kF16},
                                              {"f4", DType::kF32},
                                              {"f8", DType::kF64},
                                              {"i1", DType::kI8},
                                              {"i2", DType::kI16},
                                              {"i4", DType::kI32},
                                              {"i8", DType::kI64},
                                              {"u1", DType::kU8},
                                              {"u2", DType::kU16},
                                              {"u4", DType::kU32},
                                              {"u8", DType::kU64},
                                              {"b1", DType::kBool}}};

void set_dtype(NpyHeader& header, const std::string& name) {
  std::string_view code = header.descr;
  char order = '=';
  if (!code.empty() && std::string_view("<>=|").find(code[0]) != code.npos) {
    order = code[0];
    code.remove_prefix(1);
  }
  for (const TypeCode& type : kTypes) {
    if (type.code != code) continue;
    header.dtype = type.dtype;
    header.big_endian = order == '>' && size_of(type.dtype) > 1;
    return;
  }
  const bool raw = code.substr(0, 1) == "V";
  bad_file(name, fmt::format("descr = {}: readable are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 with < "
                             "or > before them{}",
                             in_quotes(header.descr),
                             raw ? "; .npy has no name for bf16 and f8, .safetensors has" : ""));
}

/// Length of the literal, and where it starts.
struct Prefix {
  std::size_t begin, length;
};

Prefix parse_prefix(std::span<const std::byte> file, const std::string& name) {
  if (!is_npy(file)) bad_file(name, "does not begin with \\x93NUMPY: not a .npy file");
  if (file.size() < kMagic.size() + 2) {
    bad_file(name, fmt::format("ends after {} bytes, within the version", file.size()));
  }
  const auto major = std::to_integer<unsigned>(file[6]);
  const auto minor = std::to_integer<unsigned>(file[7]);
  if (major < 1 || major > 3 || minor != 0) {
    bad_file(name, fmt::format("version = {}.{}: readable are 1.0, 2.0 and 3.0", major, minor));
  }
  // The length field has two bytes in version 1 and four from version 2 on.
  const std::size_t field = major == 1 ? 2 : 4;
  const std::size_t begin = 8 + field;
  if (file.size() < begin) {
    bad_file(name, fmt::format("ends after {} bytes, within the header length", file.size()));
  }
  std::size_t length = 0;
  for (std::size_t i = field; i-- > 0;) {
    length = length << 8 | std::to_integer<std::size_t>(file[8 + i]);
  }
  if (length > file.size() - begin) {
    bad_file(name, fmt::format("header length = {}: only {} bytes follow it", length,
                               file.size() - begin));
  }
  return {begin, length};
}

void check_size(const NpyHeader& header, std::size_t present, const std::string& name) {
  const std::optional<std::int64_t> bits =
      bits_of(header.shape, static_cast<std::int64_t>(8 * size_of(header.dtype)));
  if (!bits) {
    bad_file(name, fmt::format("shape {} of {}: its size in bits exceeds 2^63",
                               shape_text(header.shape), header.descr));
  }
  const auto needed = static_cast<std::size_t>(*bits / 8);
  if (present < needed) {
    bad_file(name, fmt::format("data = {} bytes: shape {} of {} needs {}", present,
                               shape_text(header.shape), header.descr, needed));
  }
  if (present > needed) {
    bad_file(name, fmt::format(
                       "data = {} bytes: shape {} of {} needs {}, so {} bytes are not accounted "
                       "for",
                       present, shape_text(header.shape), header.descr, needed, present - needed));
  }
}

}  // namespace

bool is_npy(std::span<const std::byte> file) {
  return file.size() >= kMagic.size() && std::memcmp(file.data(), kMagic.data(), 6) == 0;
}

NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name) {
  const Prefix prefix = parse_prefix(file, name);
  const auto* text = reinterpret_cast<const char*>(file.data() + prefix.begin);
  NpyLiteral literal = parse_npy_literal({text, prefix.length}, name);
  NpyHeader header;
  header.descr = std::move(literal.descr);
  header.fortran_order = literal.fortran_order;
  header.shape = std::move(literal.shape);
  header.data_offset = prefix.begin + prefix.length;
  set_dtype(header, name);
  check_size(header, file.size() - header.data_offset, name);
  header.data_bytes = static_cast<std::int64_t>(file.size() - header.data_offset);
  return header;
}

FileMatrix parse_npy(std::span<const std::byte> file, const std::string& name, Rank rank) {
  const NpyHeader header = parse_npy_header(file, name);
  FileMatrix matrix;
  matrix.name = name;
  matrix.dtype = header.dtype;
  matrix.big_endian = header.big_endian;
  set_shape(matrix, name, "", header.shape, header.fortran_order, rank);
  matrix.data = file.data() + header.data_offset;
  return matrix;
}

}  // namespace tessera::io
