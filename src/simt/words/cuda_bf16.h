// __nv_bfloat16 and __nv_bfloat162: the upper half of a float.
#pragma once

#include "cuda_runtime.h"
#include "simt_float16.h"

SIMT_FLOAT16_TYPES(__nv_bfloat16, __nv_bfloat162, (simt_encode<8, 7>), simt_decode_bfloat16)
SIMT_FLOAT16_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
SIMT_FLOAT16_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

SIMT_ATOMIC_SCOPES(atomicAdd, SIMT_ADD, __nv_bfloat16, SIMT_BF16)
SIMT_ATOMIC_SCOPES(atomicAdd, SIMT_ADD, __nv_bfloat162, SIMT_BF16X2)

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
