// half and half2: IEEE 754 binary16.
#pragma once

#include "cuda_runtime.h"
#include "simt_float16.h"

SIMT_FLOAT16_TYPES(__half, __half2, (simt_encode<5, 10>), simt_decode_half)
SIMT_FLOAT16_FUNCTIONS(__half, __half2)
SIMT_FLOAT16_CONVERSIONS(__half, __half2, half, half2)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

SIMT_ATOMIC_SCOPES(atomicAdd, SIMT_ADD, __half, SIMT_F16)
SIMT_ATOMIC_SCOPES(atomicAdd, SIMT_ADD, __half2, SIMT_F16X2)

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
