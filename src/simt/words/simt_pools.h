// Pools of stream-ordered memory. Work is done when it is asked for, so a pool holds nothing back
// and only remembers its attributes.
#pragma once

#include "simt_managed.h"
#include "simt_memory.h"

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone = 0 };
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct CUmemPoolHandle_st {
  int reuse[4];  // by attribute
  unsigned long long release_threshold;
};
typedef CUmemPoolHandle_st* cudaMemPool_t;

inline cudaMemPool_t& simt_current_pool() {
  static CUmemPoolHandle_st first = {{0, 1, 1, 1}, 0};
  static cudaMemPool_t current = &first;
  return current;
}
inline cudaMemPool_t simt_default_pool() {
  static cudaMemPool_t first = simt_current_pool();
  return first;
}

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = simt_default_pool();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) {
  simt_default_pool();  // remembered before another takes its place
  *pool = simt_current_pool();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t pool) {
  if (pool == nullptr) return simt_result(cudaErrorInvalidValue);
  simt_default_pool();
  simt_current_pool() = pool;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = new CUmemPoolHandle_st{{0, 1, 1, 1}, 0};
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool == nullptr || pool == simt_default_pool()) return simt_result(cudaErrorInvalidValue);
  if (simt_current_pool() == pool) simt_current_pool() = simt_default_pool();
  delete pool;
  return cudaSuccess;
}
// The three about reuse are int, the others 64 bits wide. Nothing is held in reserve.
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value) {
  if (pool == nullptr || value == nullptr) return simt_result(cudaErrorInvalidValue);
  if (what >= 1 && what <= 3) {
    pool->reuse[what] = *static_cast<int*>(value);
  } else if (what == cudaMemPoolAttrReleaseThreshold) {
    pool->release_threshold = *static_cast<unsigned long long*>(value);
  } else if (what != cudaMemPoolAttrReservedMemHigh && what != cudaMemPoolAttrUsedMemHigh) {
    return simt_result(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value) {
  if (pool == nullptr || value == nullptr) return simt_result(cudaErrorInvalidValue);
  if (what >= 1 && what <= 3) {
    *static_cast<int*>(value) = pool->reuse[what];
  } else {
    *static_cast<unsigned long long*>(value) =
        what == cudaMemPoolAttrReleaseThreshold ? pool->release_threshold : 0;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T>
SIMT_INLINE cudaError_t cudaMallocFromPoolAsync(T** p, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return simt_result(simt_allocate((void**)p, bytes, SIMT_DEVICE));
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaMemPool_t pool,
                                        cudaStream_t stream) {
  return cudaMallocFromPoolAsync(p, bytes, pool, stream);
}
