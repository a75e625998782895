#include "io/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "io/message.h"
#include "io/near_names.h"
#include "io/shape.h"

namespace tessera::io {
namespace {

struct TypeName {
  std::string_view name;
  std::int64_t bits;
  std::optional<DType> dtype;  // empty: size known, not readable
};
constexpr std::array<TypeName, 23> kTypes = {{
    {"F64", 64, DType::kF64},
    {"F32", 32, DType::kF32},
    {"F16", 16, DType::kF16},
    {"BF16", 16, DType::kBF16},
    {"F8_E4M3", 8, DType::kF8E4M3},
    {"F8_E5M2", 8, DType::kF8E5M2},
    {"F8_E8M0", 8, {}},
    {"F8_E4M3FNUZ", 8, {}},
    {"F8_E5M2FNUZ", 8, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F4", 4, {}},
    {"I64", 64, {}},
    {"I32", 32, {}},
    {"I16", 16, {}},
    {"I8", 8, {}},
    {"U64", 64, {}},
    {"U32", 32, {}},
    {"U16", 16, {}},
    {"U8", 8, {}},
    {"BOOL", 8, {}},
    {"C64", 64, {}},
    {"C128", 128, {}},
}};

const TypeName* find_type(std::string_view name) {
  for (const TypeName& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::size_t parse_length(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < 8) {
    bad_file(name,
             fmt::format("ends after {} bytes, within the 8-byte header length", bytes.size()));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  if (length > bytes.size() - 8) {
    bad_file(name,
             fmt::format("header length = {}: only {} bytes follow it", length, bytes.size() - 8));
  }
  if (length > kMostHeaderBytes) {
    bad_file(name, fmt::format("header length = {}: the format allows at most {}", length,
                               kMostHeaderBytes));
  }
  return static_cast<std::size_t>(length);
}

/// 0 <= begin <= end <= data, and as many bytes as the shape says where the type's size is known.
void check_entry(const SafetensorsEntry& entry, std::size_t data_bytes, const std::string& file) {
  const std::string what = fmt::format(
      "tensor {}: data_offsets = [{}, {}]: ", in_quotes(entry.name), entry.begin, entry.end);
  if (entry.begin > entry.end) bad_file(file, what + "the end lies before the begin");
  if (entry.end > data_bytes) {
    bad_file(file, what + fmt::format("only {} bytes follow the header", data_bytes));
  }
  const TypeName* type = find_type(entry.dtype);
  if (type == nullptr) return;
  const std::optional<std::int64_t> bits = bits_of(entry.shape, type->bits);
  if (!bits || *bits % 8 != 0 || static_cast<std::uint64_t>(*bits / 8) != entry.end - entry.begin) {
    bad_file(file,
             what + fmt::format("{} bytes, but shape {} of {} needs {}", entry.end - entry.begin,
                                shape_text(entry.shape), entry.dtype,
                                bits ? fmt::format("{} bits", *bits) : "more than 2^63 bits"));
  }
}

void check_layout(const SafetensorsFile& file, const std::string& name) {
  std::vector<const SafetensorsEntry*> order;
  for (const SafetensorsEntry& entry : file.entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* x, const auto* y) {
    return x->begin != y->begin ? x->begin < y->begin : x->end < y->end;
  });
  std::uint64_t at = 0;
  const SafetensorsEntry* before = nullptr;
  for (const SafetensorsEntry* entry : order) {
    if (entry->begin < at) {
      bad_file(name, fmt::format("tensors {} and {} share bytes [{}, {}) of the data",
                                 in_quotes(before->name), in_quotes(entry->name), entry->begin,
                                 std::min(at, std::max(entry->end, entry->begin + 1))));
    }
    if (entry->begin > at) {
      bad_file(name,
               fmt::format("bytes [{}, {}) of the data belong to no tensor", at, entry->begin));
    }
    at = entry->end;
    before = entry;
  }
  if (at != file.data.size()) {
    bad_file(name,
             fmt::format("bytes [{}, {}) of the data belong to no tensor", at, file.data.size()));
  }
}

[[noreturn]] void refuse_missing(const SafetensorsFile& file, const std::string& name,
                                 const std::string& tensor) {
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : file.entries) names.push_back(entry.name);
  std::vector<std::string> near = near_names(tensor, names, 5);
  for (std::string& text : near) text = in_quotes(text);
  const std::string hint = near.empty() ? std::string("none has a near name")
                                        : fmt::format("near names: {}", fmt::join(near, ", "));
  bad_file(name, fmt::format("tensor {} is not among the {} tensors of the file; {}",
                             in_quotes(tensor), names.size(), hint));
}

}  // namespace

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  const std::size_t length = parse_length(bytes, name);
  SafetensorsFile file;
  file.data = bytes.subspan(8 + length);
  file.entries = parse_safetensors_header(bytes.subspan(8, length), name);
  for (SafetensorsEntry& entry : file.entries) {
    check_entry(entry, file.data.size(), name);
    entry.bytes = static_cast<std::int64_t>(entry.end - entry.begin);
  }
  check_layout(file, name);
  return file;
}

FileMatrix find_tensor(const SafetensorsFile& file, const std::string& name,
                       const std::string& tensor, Rank rank) {
  const auto entry = std::find_if(file.entries.begin(), file.entries.end(),
                                  [&](const SafetensorsEntry& e) { return e.name == tensor; });
  if (entry == file.entries.end()) refuse_missing(file, name, tensor);
  const TypeName* type = find_type(entry->dtype);
  if (type == nullptr || !type->dtype) {
    bad_file(name, fmt::format("tensor {}: dtype {}: readable are F64 F32 F16 BF16 F8_E4M3 F8_E5M2",
                               in_quotes(tensor), in_quotes(entry->dtype)));
  }
  FileMatrix matrix;
  matrix.name = name + ":" + tensor;
  matrix.dtype = *type->dtype;
  set_shape(matrix, name, fmt::format("tensor {}: ", in_quotes(tensor)), entry->shape,
            /*fortran_order=*/false, rank);
  matrix.data = file.data.data() + entry->begin;
  return matrix;
}

}  // namespace tessera::io
