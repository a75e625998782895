#include "tessera/precision.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tessera/error.h"

namespace tessera {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
};

constexpr std::array<DTypeRow, 15> kDTypes = {{
    {DType::kF64, "f64"},
    {DType::kF32, "f32"},
    {DType::kF16, "f16"},
    {DType::kBF16, "bf16"},
    {DType::kF8E4M3, "f8_e4m3"},
    {DType::kF8E5M2, "f8_e5m2"},
    {DType::kI8, "i8"},
    {DType::kU8, "u8"},
    {DType::kI16, "i16"},
    {DType::kU16, "u16"},
    {DType::kI32, "i32"},
    {DType::kU32, "u32"},
    {DType::kI64, "i64"},
    {DType::kU64, "u64"},
    {DType::kBool, "bool"},
}};

const DTypeRow& row(DType dtype) {
  for (const DTypeRow& r : kDTypes) {
    if (r.dtype == dtype) return r;
  }
  detail::refuse_dtype(dtype);
}

constexpr std::array<std::pair<Precision, std::string_view>, 7> kPrecisions = {{
    {Precision::kNative, "native"},
    {Precision::kFp32, "fp32"},
    {Precision::kFp64, "fp64"},
    {Precision::kTf32, "tf32"},
    {Precision::kBf16, "bf16"},
    {Precision::kFp16, "fp16"},
    {Precision::kFp32Tensor, "fp32-tensor"},
}};

template <class Rows, class Name>
std::string known_names(const Rows& rows, Name name) {
  std::string out;
  for (const auto& r : rows) {
    if (!out.empty()) out += ", ";
    out += name(r);
  }
  return out;
}

}  // namespace

void detail::refuse_dtype(DType dtype) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("dtype: {} is not a value of DType", static_cast<int>(dtype)));
}

std::string_view to_string(DType dtype) { return row(dtype).name; }

DType parse_dtype(std::string_view name) {
  for (const DTypeRow& r : kDTypes) {
    if (r.name == name) return r.dtype;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("dtype: \"{}\" is not one of {}", name,
                          known_names(kDTypes, [](const DTypeRow& r) { return r.name; })));
}

std::string_view to_string(Precision precision) {
  for (const auto& [value, name] : kPrecisions) {
    if (value == precision) return name;
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("precision: {} is not a value of Precision",
                                                       static_cast<int>(precision)));
}

Precision parse_precision(std::string_view name) {
  for (const auto& [value, known] : kPrecisions) {
    if (known == name) return value;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("precision: \"{}\" is not one of {}", name,
                          known_names(kPrecisions, [](const auto& r) { return r.second; })));
}

double unit_roundoff(Precision precision, DType dtype) {
  switch (precision) {
    case Precision::kFp64:
      return 0x1p-53;
    case Precision::kNative:
      return dtype == DType::kF64 ? 0x1p-53 : 0x1p-24;
    case Precision::kTf32:
    case Precision::kFp16:
      return 0x1p-11;
    case Precision::kBf16:
      return 0x1p-8;
    case Precision::kFp32:
    case Precision::kFp32Tensor:
      break;
  }
  return 0x1p-24;
}

std::string_view to_string(Determinism determinism) {
  return determinism == Determinism::kRunToRun ? "run_to_run" : "batch_invariant";
}

}  // namespace tessera
