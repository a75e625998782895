// Element types, and the promises a product can be asked to keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Element type of a matrix in memory or in a file.
/// gemm computes in kF32 and kF64, and takes A and B of kF16 and kBF16 too (on the CPU); the others
/// are read from files and widened exactly.
enum class DType : std::uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,  ///< OCP 8-bit float: 4 exponent bits, no infinity, largest 448
  kF8E5M2,  ///< OCP 8-bit float: 5 exponent bits, infinities as IEEE, largest 57344
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool,
};

namespace detail {
/// Throws Error(kInvalidArgument): not a value of DType.
[[noreturn]] void refuse_dtype(DType dtype);
}  // namespace detail

/// Bytes of one element. In the header, since every call of a small product asks several times.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
    case DType::kU64:
      return 8;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
    case DType::kU16:
      return 2;
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return 1;
  }
  detail::refuse_dtype(dtype);
}
/// Short name, e.g. "f32", "bf16", "f8_e4m3", "i64".
std::string_view to_string(DType dtype);
/// Inverse of to_string; throws Error(kInvalidArgument) that lists the known names.
DType parse_dtype(std::string_view name);

/// The DType of a C++ type that gemm takes. Those of 16 bits are in half.h.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};

/// How products and sums are formed.
///
/// kNative and kFp32/kFp64 promise IEEE arithmetic of that width for every product and sum: FP32
/// means FP32, never a silently reduced precision. kBf16 and kFp16 say what A and B of that type
/// already are: gemm rounds no operand, so for others they throw Error(kUnsupported). The other
/// reduced kinds are values of this type already, so that a caller need not change when a kernel
/// for one arrives; until then asking for one throws the same.
enum class Precision : std::uint8_t {
  kNative,      ///< the operands' own: f32, f16, bf16 -> kFp32, f64 -> kFp64
  kFp32,        ///< IEEE binary32 products and sums (fused multiply-add allowed)
  kFp64,        ///< IEEE binary64 products and sums (fused multiply-add allowed)
  kTf32,        ///< f32 operands rounded to 10-bit mantissas, FP32 sums (no kernel yet)
  kBf16,        ///< A and B rounded to bfloat16, FP32 products and sums
  kFp16,        ///< A and B rounded to binary16, FP32 products and sums
  kFp32Tensor,  ///< FP32 accuracy from tensor cores by operand splitting (no kernel yet)
};

std::string_view to_string(Precision precision);
Precision parse_precision(std::string_view name);

/// Unit roundoff u of a product computed with this precision on operands of this type.
double unit_roundoff(Precision precision, DType dtype);

/// What stays bit-identical.
///
/// kRunToRun: the same inputs, shape, leading dimensions, kernel, Tessera version and device model
/// give the same bits in every run, whatever the number of threads, the stream, or what else runs.
/// It does not promise equal bits between kernels, devices, or shapes.
/// kBatchInvariant: in addition a row of C has the same bits however many rows share the call.
/// No kernel promises it yet; asking for it throws Error(kUnsupported).
enum class Determinism : std::uint8_t { kRunToRun, kBatchInvariant };

std::string_view to_string(Determinism determinism);

}  // namespace tessera
