// What a host program asks about a kernel, and how much of a multiprocessor it fills.
#pragma once

#include "simt_index.h"
#include "simt_memory.h"

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

template <class F>
SIMT_INLINE const void* simt_address(F function) {
  return reinterpret_cast<const void*>(function);
}

template <class F>
inline cudaError_t cudaFuncSetAttribute(F function, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  size_t static_bytes = 0;
  int max_threads = 0;
  simt_describe_kernel(simt_address(function), &static_bytes, &max_threads);
  if (value < 0 || static_bytes + size_t(value) > simt_device_properties().sharedMemPerBlockOptin) {
    return simt_result(cudaErrorInvalidValue);
  }
  simt_allow_dynamic_shared(simt_address(function), size_t(value));
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) {
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) {
  return cudaSuccess;
}
// Registers are a matter of the compiler for the GPU: given as 32.
template <class F>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F function) {
  *attributes = cudaFuncAttributes();
  simt_describe_kernel(simt_address(function), &attributes->sharedSizeBytes,
                       &attributes->maxThreadsPerBlock);
  if (attributes->maxThreadsPerBlock == 0) attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = int((48 << 10) - attributes->sharedSizeBytes);
  attributes->preferredShmemCarveout = -1;
  return cudaSuccess;
}

template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F function,
                                                                 int block_threads,
                                                                 size_t dynamic_bytes) {
  const cudaDeviceProp p = simt_device_properties();
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, function);
  if (block_threads <= 0) return simt_result(cudaErrorInvalidValue);
  const int warps = (block_threads + 31) / 32;
  const size_t shared = attributes.sharedSizeBytes + dynamic_bytes + p.reservedSharedMemPerBlock;
  const int by_shared = int(p.sharedMemPerMultiprocessor / shared);
  *blocks = p.maxThreadsPerMultiProcessor / 32 / warps;
  if (*blocks > p.maxBlocksPerMultiProcessor) *blocks = p.maxBlocksPerMultiProcessor;
  if (*blocks > by_shared) *blocks = by_shared;
  if (block_threads > attributes.maxThreadsPerBlock) *blocks = 0;
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F function,
                                                                          int block_threads,
                                                                          size_t dynamic_bytes,
                                                                          unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads,
                                                       dynamic_bytes);
}
template <class F, class SharedBytes>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* best_block,
                                                                  F function,
                                                                  SharedBytes shared_bytes,
                                                                  int limit = 0) {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, function);
  int most = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < most) most = limit;
  int best_threads = 0;
  *best_block = *min_grid = 0;
  for (int block = most; block > 0; block = block % 32 != 0 ? block / 32 * 32 : block - 32) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, block,
                                                  size_t(shared_bytes(block)));
    if (blocks * block <= best_threads) continue;
    best_threads = blocks * block;
    *best_block = block;
    *min_grid = blocks * simt_device_properties().multiProcessorCount;
  }
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* best_block, F function,
                                                      size_t dynamic_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid, best_block, function, [dynamic_bytes](int) { return dynamic_bytes; }, limit);
}
