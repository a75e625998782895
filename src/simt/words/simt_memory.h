// Allocations and copies of a host program. Inlined, so that the executor sees the program's line.
#pragma once

#include "simt_device.h"
#include "simt_streams.h"

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

// --- allocation
template <class T>
SIMT_INLINE cudaError_t cudaMalloc(T** p, size_t bytes) {
  return simt_result(simt_allocate((void**)p, bytes, SIMT_DEVICE));
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return simt_result(simt_allocate((void**)p, bytes, SIMT_MANAGED));
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned = cudaHostAllocDefault) {
  return simt_result(simt_allocate((void**)p, bytes, SIMT_PINNED));
}
template <class T>
SIMT_INLINE cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned) {
  return simt_result(simt_allocate((void**)p, bytes, SIMT_PINNED));
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t) {
  return simt_result(simt_allocate((void**)p, bytes, SIMT_DEVICE));
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t rows) {
  constexpr size_t kPitch = 512;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return simt_result(simt_allocate((void**)p, *pitch * rows, SIMT_DEVICE));
}
SIMT_INLINE cudaError_t cudaFree(void* p) { return simt_result(simt_release(p)); }
SIMT_INLINE cudaError_t cudaFreeHost(void* p) { return simt_result(simt_release(p)); }
SIMT_INLINE cudaError_t cudaFreeAsync(void* p, cudaStream_t) {
  return simt_result(simt_release(p));
}
SIMT_INLINE cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
template <class T>
SIMT_INLINE cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = simt_free_bytes();
  *total_bytes = simt_device_properties().totalGlobalMem;
  return cudaSuccess;
}

// --- copies
SIMT_INLINE cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return simt_result(simt_copy(to, from, bytes, kind));
}
SIMT_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                        cudaMemcpyKind kind, cudaStream_t = 0) {
  return simt_result(simt_copy(to, from, bytes, kind));
}
SIMT_INLINE cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t rows, cudaMemcpyKind kind) {
  return simt_result(simt_copy_2d(to, to_pitch, from, from_pitch, width, rows, kind));
}
SIMT_INLINE cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                          size_t from_pitch, size_t width, size_t rows,
                                          cudaMemcpyKind kind, cudaStream_t = 0) {
  return simt_result(simt_copy_2d(to, to_pitch, from, from_pitch, width, rows, kind));
}
SIMT_INLINE cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return simt_result(simt_set(to, value, bytes));
}
SIMT_INLINE cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = 0) {
  return simt_result(simt_set(to, value, bytes));
}
SIMT_INLINE cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t rows) {
  int error = width > pitch ? cudaErrorInvalidPitchValue : cudaSuccess;
  for (size_t row = 0; row < rows && error == cudaSuccess; ++row) {
    error = simt_set(static_cast<char*>(to) + row * pitch, value, width);
  }
  return simt_result(error);
}
SIMT_INLINE cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                          size_t rows, cudaStream_t = 0) {
  return cudaMemset2D(to, pitch, value, width, rows);
}

// --- variables of the device
template <class T>
SIMT_INLINE char* simt_symbol(const T& symbol, size_t offset = 0) {
  return const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset;
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return simt_result(simt_copy(simt_symbol(symbol, offset), from, bytes, kind));
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                                size_t offset, cudaMemcpyKind kind,
                                                cudaStream_t = 0) {
  return simt_result(simt_copy(simt_symbol(symbol, offset), from, bytes, kind));
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return simt_result(simt_copy(to, simt_symbol(symbol, offset), bytes, kind));
}
template <class T>
SIMT_INLINE cudaError_t cudaGetSymbolAddress(void** p, const T& symbol) {
  *p = simt_symbol(symbol);
  return cudaSuccess;
}
template <class T>
SIMT_INLINE cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
