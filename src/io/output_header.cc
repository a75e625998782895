#include "io/output_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "io/message.h"

namespace tessera::io {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t padding(std::size_t length) { return (kAlignment - length % kAlignment) % kAlignment; }

std::string_view npy_descr(DType dtype, const std::string& path) {
  switch (dtype) {
    case DType::kF64:
      return "<f8";
    case DType::kF32:
      return "<f4";
    case DType::kF16:
      return "<f2";
    case DType::kBF16:
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      output_failure(path, fmt::format("dtype {}: .npy has no such type; name the output "
                                       "FILE.safetensors to keep it",
                                       to_string(dtype)));
    default:
      output_failure(path,
                     fmt::format("dtype {}: written to .npy are f64, f32, f16", to_string(dtype)));
  }
}

std::string npy_header(const std::string& path, DType dtype,
                       const std::vector<std::int64_t>& shape) {
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  npy_descr(dtype, path), fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Magic, version and a 2-byte length come before, a newline closes the header.
  dict.append(padding(10 + dict.size() + 1), ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

std::string_view safetensors_dtype(DType dtype, const std::string& path) {
  switch (dtype) {
    case DType::kF64:
      return "F64";
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kF8E4M3:
      return "F8_E4M3";
    case DType::kF8E5M2:
      return "F8_E5M2";
    default:
      output_failure(path, fmt::format("dtype {}: written to .safetensors are f64, f32, f16, bf16, "
                                       "f8_e4m3, f8_e5m2",
                                       to_string(dtype)));
  }
}

/// The name as a JSON string.
std::string json_name(const std::string& tensor, const std::string& path) {
  if (tensor == "__metadata__") {
    output_failure(path, "tensor \"__metadata__\": the name is reserved by the format");
  }
  try {
    return nlohmann::json(tensor).dump();
  } catch (const nlohmann::json::exception&) {
    output_failure(path, fmt::format("tensor {}: the name is not UTF-8", in_quotes(tensor)));
  }
}

std::string safetensors_header(const std::string& path, DType dtype,
                               const std::vector<std::int64_t>& shape, std::int64_t data_bytes,
                               const std::string& tensor) {
  std::string json = fmt::format(R"({{{}:{{"dtype":"{}","shape":[{}],"data_offsets":[0,{}]}}}})",
                                 json_name(tensor, path), safetensors_dtype(dtype, path),
                                 fmt::join(shape, ","), data_bytes);
  json.append(padding(8 + json.size()), ' ');
  std::string out;
  for (int shift = 0; shift < 64; shift += 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(json.size()) >> shift & 0xff);
  }
  return out + json;
}

}  // namespace

bool is_safetensors_name(const std::string& path) {
  constexpr std::string_view kEnd = ".safetensors";
  return path.size() >= kEnd.size() &&
         path.compare(path.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
}

std::string output_header(const std::string& path, DType dtype,
                          const std::vector<std::int64_t>& shape, std::int64_t data_bytes,
                          const std::string& tensor) {
  return is_safetensors_name(path) ? safetensors_header(path, dtype, shape, data_bytes, tensor)
                                   : npy_header(path, dtype, shape);
}

}  // namespace tessera::io
