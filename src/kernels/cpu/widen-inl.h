// 16-bit elements as FP32: exact, on every instruction set.
#if defined(TESSERA_KERNELS_CPU_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_WIDEN_INL_H_
#undef TESSERA_KERNELS_CPU_WIDEN_INL_H_
#else
#define TESSERA_KERNELS_CPU_WIDEN_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "core/small_float.h"
#include "tessera/half.h"

HWY_BEFORE_NAMESPACE();
namespace tessera {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One element.
template <class T>
HWY_INLINE T widen_one(T x) {
  return x;
}
HWY_INLINE float widen_one(BFloat16 x) { return widen_bf16(x.bits); }
HWY_INLINE float widen_one(Float16 x) { return widen_small<F16>(x.bits); }

/// A vector of them, from any address.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_wide(D d, const T* x) {
  return hn::LoadU(d, x);
}

template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const BFloat16* x) {
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::Rebind<std::uint32_t, D> d32;
  const auto codes = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(x));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, codes)));
}

template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const Float16* x) {
  const hn::Rebind<std::uint16_t, D> d16;
  const auto codes = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(x));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::BitCast(half, codes));
#else
  // As widen_small: Highway's own, on sets without such an instruction, is for finite numbers.
  const hn::Rebind<std::int32_t, D> d32;
  const auto code = hn::PromoteTo(d32, codes);
  const auto magnitude = hn::And(code, hn::Set(d32, 0x7fff));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(code, magnitude));
  const auto subnormal =
      hn::BitCast(d32, hn::Mul(hn::ConvertTo(d, magnitude), hn::Set(d, 0x1p-24F)));
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(d32, 112 << 23));
  // All exponent bits of binary16 become all of binary32.
  const auto special = hn::Or(normal, hn::Set(d32, 0x7f800000));
  auto bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x400)), subnormal, normal);
  bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d32, 0x7bff)), special, bits);
  return hn::BitCast(d, hn::Or(sign, bits));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera
HWY_AFTER_NAMESPACE();

#endif  // TESSERA_KERNELS_CPU_WIDEN_INL_H_
