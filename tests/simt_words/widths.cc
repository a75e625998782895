// Functions whose hooks are counted: each name says what its hooks must be.
#include "cooperative_groups.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_pipeline.h"
#include "cuda_runtime.h"

extern "C" {
// --- 16 bytes
void copy_16(float* s, const float* g, int i) {
  *reinterpret_cast<float4*>(&s[i]) = *reinterpret_cast<const float4*>(&g[i]);
}
void load_16_store_4(float* s, const float4* g, int i) {
  float4 v = g[i];
  s[0] = v.x;
  s[64] = v.y;
  s[128] = v.z;
  s[192] = v.w;
}
void load_16_store_4_of_integers(int* s, const int* g, int i) {
  int4 v = reinterpret_cast<const int4*>(&g[i])[0];
  s[0] = v.x;
  s[64] = v.y;
  s[128] = v.z;
  s[192] = v.w;
}
void load_4_store_16(float4* s, const float* g) { *s = make_float4(g[0], g[10], g[20], g[30]); }
void update_16(float4* s, const float4* g) {
  float4 v = s[0];
  const float4 w = g[0];
  v.x += w.x;
  v.w += w.y;
  s[0] = v;
}
void copy_16_of_double2(double2* s, const double2* g) { s[1] = g[3]; }
void copy_16_of_uint4(uint4* s, const uint4* g) { s[1] = __ldg(&g[3]); }
void copy_16_twice(double4* s, const double4* g) { s[1] = g[3]; }
void store_16_with_hint(float4* s, const float4* g) { __stcs(s, g[1]); }
// --- smaller
void copy_8(float2* s, const float2* g) { s[1] = g[3]; }
void load_8_store_4(float* s, const float2* g) {
  const float2 v = g[0];
  s[0] = v.x;
  s[64] = v.y;
}
void load_4_store_8(float2* s, const float* g) { *s = make_float2(g[0], g[33]); }
void copy_4(char4* s, const char4* g) { s[1] = g[3]; }
void copy_4_of_half2(half2* s, const half2* g) { s[1] = g[3]; }
void load_4_store_2(half* s, const half2* g) {
  const half2 v = g[0];
  s[0] = v.x;
  s[64] = v.y;
}
void copy_2(half* s, const half* g) { s[1] = g[3] + g[5]; }
void copy_2_of_bfloat16(__nv_bfloat16* s, const __nv_bfloat16* g) { s[1] = g[3] * g[5]; }
// --- none
unsigned none_for_indices(unsigned n) {
  return threadIdx.x + blockIdx.y * blockDim.z + gridDim.x + (n & warpSize);
}
void none_for_atomics(int* p, float* q, half2* r) {
  atomicAdd(p, 1);
  atomicAdd(q, 1.0f);
  atomicAdd(r, __float2half2_rn(1.0f));
}
void none_for_asynchronous_copies(float* s, const float* g) {
  __pipeline_memcpy_async(s, g, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
}
