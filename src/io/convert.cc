#include "io/convert.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <type_traits>

#include "core/small_float.h"
#include "tessera/error.h"
#include "tessera/half.h"

namespace tessera::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and their elements are used in place");

std::uint8_t swap_bytes(std::uint8_t x) { return x; }
std::uint16_t swap_bytes(std::uint16_t x) { return __builtin_bswap16(x); }
std::uint32_t swap_bytes(std::uint32_t x) { return __builtin_bswap32(x); }
std::uint64_t swap_bytes(std::uint64_t x) { return __builtin_bswap64(x); }

/// An integer of 64 bits, rounded to odd to the 53 of a double.
template <class X>
double to_double_odd(X x) {
  const X low = x & X{0x7ff};
  const bool is_exact = x < X{1} << 53 && (std::is_unsigned_v<X> || x > -(X{1} << 52));
  return static_cast<double>(is_exact || low == 0 ? x : static_cast<X>((x - low) | X{0x800}));
}

/// x rounded once. A 16-bit T has fewer bits than what it is rounded from by way of.
template <class T, class X>
T rounded_to(X x) {
  if constexpr (sizeof(T) > 2) {
    return static_cast<T>(x);
  } else if constexpr (sizeof(X) == 8 && std::is_integral_v<X>) {
    return T(to_float_odd(to_double_odd(x)));
  } else if constexpr (sizeof(X) == 8 || (sizeof(X) == 4 && std::is_integral_v<X>)) {
    return T(to_float_odd(static_cast<double>(x)));
  } else {
    return T(static_cast<float>(x));
  }
}

template <class Raw, bool kSwap, class T, class Convert>
void widen_loop(const std::byte* in, std::int64_t count, T* out, Convert convert) {
  for (std::int64_t i = 0; i < count; ++i) {
    Raw raw;
    std::memcpy(&raw, in + i * static_cast<std::int64_t>(sizeof(Raw)), sizeof(Raw));
    if constexpr (kSwap) raw = swap_bytes(raw);
    out[i] = rounded_to<T>(convert(raw));
  }
}

template <class Raw, class T, class Convert>
void widen_with(bool swap, const std::byte* in, std::int64_t count, T* out, Convert convert) {
  if (swap) {
    widen_loop<Raw, true>(in, count, out, convert);
  } else {
    widen_loop<Raw, false>(in, count, out, convert);
  }
}

/// Elements whose bits are those of the arithmetic type X.
template <class X, class T>
void widen_as(bool swap, const std::byte* in, std::int64_t count, T* out) {
  using Raw = std::conditional_t<
      sizeof(X) == 1, std::uint8_t,
      std::conditional_t<sizeof(X) == 2, std::uint16_t,
                         std::conditional_t<sizeof(X) == 4, std::uint32_t, std::uint64_t>>>;
  widen_with<Raw>(swap, in, count, out, [](Raw raw) { return std::bit_cast<X>(raw); });
}

template <class Raw, class T, class Convert>
void narrow_loop(const T* in, std::int64_t count, std::byte* out, Convert convert) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto raw = static_cast<Raw>(convert(in[i]));
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(Raw)), &raw, sizeof(Raw));
  }
}

/// What the narrow formats are rounded from: a double goes through rounding to odd.
float narrowing_input(float value) { return value; }
float narrowing_input(double value) { return to_float_odd(value); }

[[noreturn]] void refuse(const char* operation, DType dtype) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{}: dtype {} has no conversion", operation, to_string(dtype)));
}

}  // namespace

template <class T>
void widen(DType dtype, bool big_endian, const std::byte* in, std::int64_t count, T* out) {
  const bool swap = big_endian;
  switch (dtype) {
    case DType::kF64:
      return widen_as<double>(swap, in, count, out);
    case DType::kF32:
      return widen_as<float>(swap, in, count, out);
    case DType::kF16:
      return widen_with<std::uint16_t>(swap, in, count, out, widen_small<F16>);
    case DType::kBF16:
      return widen_with<std::uint16_t>(swap, in, count, out, widen_bf16);
    case DType::kF8E4M3:
      return widen_with<std::uint8_t>(swap, in, count, out, widen_small<F8E4M3>);
    case DType::kF8E5M2:
      return widen_with<std::uint8_t>(swap, in, count, out, widen_small<F8E5M2>);
    case DType::kI8:
      return widen_as<std::int8_t>(swap, in, count, out);
    case DType::kU8:
      return widen_as<std::uint8_t>(swap, in, count, out);
    case DType::kI16:
      return widen_as<std::int16_t>(swap, in, count, out);
    case DType::kU16:
      return widen_as<std::uint16_t>(swap, in, count, out);
    case DType::kI32:
      return widen_as<std::int32_t>(swap, in, count, out);
    case DType::kU32:
      return widen_as<std::uint32_t>(swap, in, count, out);
    case DType::kI64:
      return widen_as<std::int64_t>(swap, in, count, out);
    case DType::kU64:
      return widen_as<std::uint64_t>(swap, in, count, out);
    case DType::kBool:
      // Any byte but 0 is true, as in NumPy.
      return widen_with<std::uint8_t>(swap, in, count, out,
                                      [](std::uint8_t raw) { return raw != 0 ? 1 : 0; });
  }
  refuse("widen", dtype);
}

template <class T>
void narrow(DType dtype, const T* in, std::int64_t count, std::byte* out) {
  switch (dtype) {
    case DType::kF64:
      return narrow_loop<std::uint64_t>(
          in, count, out, [](T x) { return std::bit_cast<std::uint64_t>(static_cast<double>(x)); });
    case DType::kF32:
      return narrow_loop<std::uint32_t>(
          in, count, out, [](T x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); });
    case DType::kF16:
      return narrow_loop<std::uint16_t>(in, count, out,
                                        [](T x) { return narrow_small<F16>(narrowing_input(x)); });
    case DType::kBF16:
      return narrow_loop<std::uint16_t>(in, count, out,
                                        [](T x) { return narrow_bf16(narrowing_input(x)); });
    case DType::kF8E4M3:
      return narrow_loop<std::uint8_t>(
          in, count, out, [](T x) { return narrow_small<F8E4M3>(narrowing_input(x)); });
    case DType::kF8E5M2:
      return narrow_loop<std::uint8_t>(
          in, count, out, [](T x) { return narrow_small<F8E5M2>(narrowing_input(x)); });
    default:
      refuse("narrow", dtype);
  }
}

template void widen<float>(DType, bool, const std::byte*, std::int64_t, float*);
template void widen<double>(DType, bool, const std::byte*, std::int64_t, double*);
template void widen<BFloat16>(DType, bool, const std::byte*, std::int64_t, BFloat16*);
template void widen<Float16>(DType, bool, const std::byte*, std::int64_t, Float16*);
template void narrow<float>(DType, const float*, std::int64_t, std::byte*);
template void narrow<double>(DType, const double*, std::int64_t, std::byte*);

}  // namespace tessera::io
