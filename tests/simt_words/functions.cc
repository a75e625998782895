// Words that are functions of their arguments or of one warp, and the runtime's plain answers.
#include "cooperative_groups.h"
#include "cooperative_groups/reduce.h"
#include "cuda.h"
#include "cuda_fp16.h"
#include "cuda_profiler_api.h"
#include "cuda_runtime.h"
#include "executor.h"
#include "helper_cuda.h"
#include "helper_functions.h"

#include <cfloat>
#include <cmath>

namespace cg = cooperative_groups;

namespace {

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

float4 operator*(float4 v, float s) { return {v.x * s, v.y * s, v.z * s, v.w * s}; }

void check_vectors() {
  static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && sizeof(float4) == 16);
  static_assert(alignof(float4) == 16 && alignof(double2) == 16 && alignof(double4) == 16);
  static_assert(alignof(float2) == 8 && alignof(char4) == 4 && alignof(uchar2) == 2);
  static_assert(alignof(double4_32a) == 32 && sizeof(longlong4) == 32);
  constexpr float4 kConstant = make_float4(1, 2, 3, 4);
  static_assert(kConstant.z == 3);
  const float4 fewer = {1.0f, 2.0f}, zero{};
  float4 array[3] = {0.0f};
  CHECK(fewer.y == 2 && fewer.z == 0 && zero.w == 0 && array[2].x == 0);
  array[1] = kConstant * 2.0f;
  const float4 copy = array[1];
  CHECK(copy.x == 2 && copy.w == 8);
  union {
    float4 whole;
    float parts[4];
  } both;
  both.whole = kConstant;
  CHECK(both.parts[3] == 4);
  const double4 wide = make_double4(1, 2, 3, 4), wide_copy = wide;
  CHECK(wide_copy.x == 1 && wide_copy.w == 4);
}

void check_indices() {
  const dim3 from_thread(threadIdx), from_block = blockIdx, size = blockDim;
  const uint3 thread = threadIdx;
  CHECK(from_thread.y == 6 && from_block.z == 3 && size.x == 32 && thread.z == 7);
  CHECK(threadIdx.x + blockIdx.x * blockDim.x == 37 && gridDim.y == 10);
  static_assert(kSame<decltype(threadIdx.x), unsigned>);
  constexpr dim3 kDefault(4);
  static_assert(kDefault.x == 4 && kDefault.y == 1 && kDefault.z == 1);
  CHECK(cg::this_thread_block().thread_rank() == (7 * 8 + 6) * 32 + 5);
}

void check_minmax() {
  static_assert(kSame<decltype(min(1, 2u)), unsigned> &&
                kSame<decltype(max(1ll, 2ull)), unsigned long long>);
  static_assert(kSame<decltype(min(1.0f, 2.0)), double> && kSame<decltype(max(1.0f, 2.0f)), float>);
  CHECK(min(-1, 2u) == 2 && max(-1, 2) == 2 && min(size_t(3), size_t(2)) == 2);
  CHECK(min(NAN, 1.0f) == 1.0f && max(2.0, double(NAN)) == 2.0);
}

void check_bits() {
  CHECK(__popc(0xf0f0u) == 8 && __clz(1) == 31 && __clz(0) == 32 && __ffs(8) == 4 && __ffs(0) == 0);
  CHECK(__clzll(1) == 63 && __popcll(~0ull) == 64 && __brev(1) == 0x80000000u);
  CHECK(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
  CHECK(__double2hiint(1.0) == 0x3ff00000 && __hiloint2double(0x40000000, 0) == 2.0);
  CHECK(__mul24(-3, 5) == -15 && __umulhi(1u << 31, 4) == 2 && __mulhi(-1, 1) == -1);
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311u);
  CHECK(__dp4a(0x01ff0203, 0x01010101, 10) == 10 + 1 - 1 + 2 + 3);
  CHECK(__dp4a(0x01ff0203u, 0x01010101u, 0u) == 261);
  CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(2, 1, 1) == 0x80000001u);
  CHECK(__usad(3, 7, 1) == 5 && __sad(-3, 4, 1) == 8);
}

void check_math() {
  CHECK(__fmaf_rn(2, 3, 4) == 10 && __fmul_rn(3, 4) == 12 && __saturatef(NAN) == 0);
  CHECK(__saturatef(1.5f) == 1 && rsqrtf(4) == 0.5f && __fdividef(1, 4) == 0.25f);
  CHECK(__float2int_rn(2.5f) == 2 && __float2int_ru(2.1f) == 3 && __float2int_rz(-2.9f) == -2);
  CHECK(__float2int_rn(1e20f) == 0x7fffffff && __float2uint_rn(-1.0f) == 0);
  CHECK(__float2int_rn(NAN) == 0 && __double2ll_rd(-0.5) == -1);
  CHECK(__double2ull_rz(1e30) == ~0ull && __double2ll_rz(-1e30) == (long long)(1ull << 63));
}

// The neighbours on either side of the exact value, which a product of doubles has in 113 bits.
template <class T>
bool encloses(T down, T up, __float128 exact) {
  return __float128(down) <= exact && exact <= __float128(up) &&
         (down == up ? __float128(down) == exact : std::nextafter(down, up) == up);
}
template <class T, class Exact>
void check_directions(T down, T up, T zero, Exact exact) {
  CHECK(encloses(down, up, exact));
  CHECK(zero == (exact < 0 ? up : down));
}

void check_directed_rounding() {
  const float f[] = {1, -3, 0.1f, -1e-3f, 7e5f, 1.0f / 3, -2.5f, 16777215};
  const double d[] = {1, -3, 0.1, -1e-3, 7e5, 1.0 / 3, -2.5, 16777217};
  using Wide = __float128;
  for (float a : f) {
    for (float b : f) {
      check_directions(__fadd_rd(a, b), __fadd_ru(a, b), __fadd_rz(a, b), Wide(a) + b);
      check_directions(__fsub_rd(a, b), __fsub_ru(a, b), __fsub_rz(a, b), Wide(a) - b);
      check_directions(__fmul_rd(a, b), __fmul_ru(a, b), __fmul_rz(a, b), Wide(a) * b);
      check_directions(__fdiv_rd(a, b), __fdiv_ru(a, b), __fdiv_rz(a, b), Wide(a) / b);
      for (float c : f) {
        check_directions(__fmaf_rd(a, b, c), __fmaf_ru(a, b, c), __fmaf_rz(a, b, c),
                         Wide(a) * b + c);
      }
    }
    if (a > 0)
      CHECK(Wide(__fsqrt_rd(a)) * __fsqrt_rd(a) <= a && Wide(__fsqrt_ru(a)) * __fsqrt_ru(a) >= a);
    check_directions(__frcp_rd(a), __frcp_ru(a), __frcp_rz(a), Wide(1) / a);
  }
  for (double a : d) {
    for (double b : d) {
      check_directions(__dadd_rd(a, b), __dadd_ru(a, b), __dadd_rz(a, b), Wide(a) + b);
      check_directions(__dsub_rd(a, b), __dsub_ru(a, b), __dsub_rz(a, b), Wide(a) - b);
      check_directions(__dmul_rd(a, b), __dmul_ru(a, b), __dmul_rz(a, b), Wide(a) * b);
      check_directions(__ddiv_rd(a, b), __ddiv_ru(a, b), __ddiv_rz(a, b), Wide(a) / b);
      // a * b - round(a * b) is exact.
      const double near = a * b, rest = __fma_rn(a, b, -near);
      CHECK(__fma_rd(a, b, -near) == rest && __fma_ru(a, b, -near) == rest);
      check_directions(__fma_rd(a, b, 1), __fma_ru(a, b, 1), __fma_rz(a, b, 1), Wide(a) * b + 1);
    }
    check_directions(__double2float_rd(a), __double2float_ru(a), __double2float_rz(a), Wide(a));
  }
  CHECK(__dsqrt_rd(2) < __dsqrt_ru(2) && __dsqrt_rz(2) == __dsqrt_rd(2) && __dsqrt_ru(4) == 2);
  CHECK(__fadd_rz(3e38f, 3e38f) == FLT_MAX && __fadd_ru(3e38f, 3e38f) == INFINITY);
  CHECK(__fmul_ru(1e-45f, 0.1f) > 0 && __fmul_rd(1e-45f, 0.1f) == 0);
  CHECK(__int2float_rd(16777217) == 16777216 && __int2float_ru(16777217) == 16777218);
  CHECK(0.1f + 0.2f == __fadd_rn(0.1f, 0.2f));  // the mode is as before
}

void check_atomics() {
  double d = 4;
  CHECK(atomicAdd(&d, 1.5) == 4 && last_atomic.op == SIMT_ADD && last_atomic.type == SIMT_F64);
  unsigned short s = 7;
  CHECK(atomicCAS(&s, (unsigned short)1, (unsigned short)2) == 7);
  CHECK(last_atomic.type == SIMT_U16 && last_atomic.operand == 2 && last_atomic.compare == 1);
  unsigned long long u = 0;
  atomicMax(&u, ~0ull);
  CHECK(last_atomic.operand == ~0ull && last_atomic.type == SIMT_U64);
  int i = 0;
  atomicSub_block(&i, -1);
  CHECK(last_atomic.op == SIMT_SUB && last_atomic.operand == 0xffffffffu);
  half2 h = __float2half2_rn(0);
  atomicAdd(&h, __floats2half2_rn(1.0f, 2.0f));
  CHECK(last_atomic.type == SIMT_F16X2 && last_atomic.operand == 0x40003c00u);
}

struct Large {
  double a, b;
  int c;
};

void check_warp() {
  constexpr unsigned kAll = ~0u;
  run_warp([](int lane) {
    CHECK(__shfl_sync(kAll, lane, 3) == 3 && __shfl_sync(kAll, lane, 9, 8) == (lane & ~7) + 1);
    CHECK(__shfl_up_sync(kAll, lane, 1) == (lane == 0 ? 0 : lane - 1));
    CHECK(__shfl_up_sync(kAll, lane, 2, 4) == (lane % 4 < 2 ? lane : lane - 2));
    CHECK(__shfl_down_sync(kAll, 0.5 * lane, 16) == 0.5 * (lane < 16 ? lane + 16 : lane));
    CHECK(__shfl_down_sync(kAll, lane, 1, 16) == (lane % 16 == 15 ? lane : lane + 1));
    CHECK(__shfl_xor_sync(kAll, (long long)lane << 40, 5) == (long long)(lane ^ 5) << 40);
    CHECK(float(__shfl_xor_sync(kAll, half(lane), 1)) == float(lane ^ 1));
    CHECK(__shfl_sync(kAll, Large{1, 2, lane}, 31).c == 31);
    CHECK(__ballot_sync(kAll, lane % 2) == 0xaaaaaaaau);
    CHECK(__any_sync(kAll, lane == 7) == 1 && __all_sync(kAll, lane == 7) == 0);
    CHECK(__all_sync(kAll, lane >= 0) == 1 && __any_sync(kAll, lane < 0) == 0);
    CHECK(__match_any_sync(kAll, lane / 4) == 0xfu << (lane / 4 * 4));
    int same = 0;
    CHECK(__match_all_sync(kAll, 5, &same) == kAll && same == 1);
    CHECK(__match_all_sync(kAll, lane, &same) == 0 && same == 0);
    CHECK(__reduce_add_sync(kAll, lane - 20) == 496 - 640);
    CHECK(__reduce_min_sync(kAll, -lane) == -31 && __reduce_max_sync(kAll, unsigned(lane)) == 31);
    CHECK(__reduce_or_sync(kAll, 1u << lane) == kAll);

    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    CHECK(tile.thread_rank() == unsigned(lane % 8) && tile.size() == 8);
    CHECK(tile.ballot(lane % 2) == 0xaau && tile.shfl(lane, 2) == lane / 8 * 8 + 2);
    CHECK(cg::reduce(tile, lane, cg::plus<int>()) == lane / 8 * 64 + 28);
    CHECK(cg::reduce(tile, lane, cg::greater<int>()) == lane / 8 * 8 + 7);
    CHECK(tile.any(lane == 3) == (lane < 8) && tile.meta_group_size() == 32);
    const cg::thread_group general = tile;
    CHECK(general.size() == 8 && general.thread_rank() == unsigned(lane % 8));
    const auto thirds = cg::labeled_partition(cg::coalesced_threads(), lane % 3);
    CHECK(thirds.size() == (lane % 3 < 2 ? 11u : 10u) &&
          thirds.thread_rank() == unsigned(lane / 3));
    CHECK(cg::reduce(thirds, 1, cg::plus<int>()) == int(thirds.size()));
  });
}

void kernel(float*) {}

void check_runtime() {
  CHECK(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
  CHECK(!strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration"));
  CHECK(!strcmp(cudaGetErrorString(cudaError_t(700)), "an illegal memory access was encountered"));
  CHECK(!strcmp(cudaGetErrorString(cudaError_t(12345)), "unrecognized error code"));
  CHECK(cudaErrorLaunchOutOfResources == 701 && cudaErrorUnknown == 999);

  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaPeekAtLastError() == 101);
  CHECK(cudaGetLastError() == 101 && cudaGetLastError() == cudaSuccess);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess && p.multiProcessorCount == 132);
  int value = 0;
  cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  CHECK(value == 232448 && cudaDeviceGetAttribute(&value, cudaDeviceAttr(9999), 0) == 1);
  cudaGetLastError();

  float* g = nullptr;
  float host[4] = {1, 2, 3, 4}, back[4];
  CHECK(cudaMalloc(&g, sizeof(host)) == cudaSuccess && cudaMalloc((void**)&g, 16) == cudaSuccess);
  cudaMemcpy(g, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemcpyAsync(back, g, sizeof(host), cudaMemcpyDeviceToHost);
  CHECK(back[3] == 4 && cudaFree(g) == cudaSuccess);

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaErrorInvalidResourceHandle);
  cudaEventRecord(start);
  cudaEventRecord(stop);
  CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaSuccess && ms > 0);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);

  int blocks = 0, threads = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0);
  CHECK(blocks == 8);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)kernel, 64, 16 << 10);
  CHECK(blocks == 228 / 33);
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel);
  CHECK(threads == 1024 && blocks == 264);
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10) == 0);
  CHECK(allowed_dynamic == 200 << 10);
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 << 10) == 1);
}

void check_pools() {
  cudaMemPool_t first = nullptr, own = nullptr, now = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&first, 0) == cudaSuccess && first != nullptr);
  unsigned long long threshold = ~0ull, read = 0;
  CHECK(cudaMemPoolSetAttribute(first, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(first, cudaMemPoolAttrReleaseThreshold, &read) == cudaSuccess);
  CHECK(read == threshold);
  int reuse = 0;
  cudaMemPoolSetAttribute(first, cudaMemPoolReuseAllowOpportunistic, &reuse);
  reuse = 7;
  cudaMemPoolGetAttribute(first, cudaMemPoolReuseAllowOpportunistic, &reuse);
  CHECK(reuse == 0);
  CHECK(cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &read) != cudaSuccess);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CHECK(cudaMemPoolCreate(&own, &properties) == cudaSuccess && own != first);
  CHECK(cudaDeviceSetMemPool(0, own) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&now, 0) == cudaSuccess && now == own);
  CHECK(cudaMemPoolDestroy(first) != cudaSuccess && cudaMemPoolDestroy(own) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&now, 0) == cudaSuccess && now == first);
  float* memory = nullptr;
  CHECK(cudaMallocFromPoolAsync(&memory, 64, first, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
  CHECK(cudaMallocAsync(&memory, 64, first, nullptr) == cudaSuccess && memory != nullptr);
  CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
  cudaGetLastError();
}

void check_helpers() {
  const char* arguments[] = {"program", "-wA=320", "--name=x", "-flag"};
  CHECK(getCmdLineArgumentInt(4, arguments, "wA") == 320);
  CHECK(getCmdLineArgumentInt(4, arguments, "w") == 0);
  CHECK(checkCmdLineFlag(4, arguments, "flag") && !checkCmdLineFlag(4, arguments, "fla"));
  char* text = nullptr;
  CHECK(getCmdLineArgumentString(4, arguments, "name", &text) && !strcmp(text, "x"));
  const float a[2] = {1, 2}, near[2] = {1, 2.00001f}, far[2] = {1, 3}, nan[2] = {1, NAN};
  CHECK(sdkCompareL2fe(a, near, 2, 1e-3f) && !sdkCompareL2fe(a, far, 2, 1e-3f));
  CHECK(!sdkCompareL2fe(a, nan, 2, 1e-3f) && !compareData(a, nan, 2, 0.1f, 0.0f));
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  sdkStopTimer(&timer);
  CHECK(sdkGetTimerValue(&timer) >= 0 && sdkGetAverageTimerValue(&timer) >= 0);
  sdkDeleteTimer(&timer);
}

}  // namespace

int main() {
  check_vectors();
  check_indices();
  check_minmax();
  check_bits();
  check_math();
  check_directed_rounding();
  check_pools();
  check_atomics();
  check_warp();
  check_runtime();
  check_helpers();
  return failures != 0;
}
