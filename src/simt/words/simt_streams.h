// Streams and events. Work is done when it is asked for, so a stream orders nothing, and an event
// keeps the host's time.
#pragma once

#include <time.h>

#include "simt_errors.h"

struct CUstream_st {
  unsigned flags;
  int priority;
};
typedef CUstream_st* cudaStream_t;
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01

struct CUevent_st {
  double ms;  // negative: not recorded
  bool is_timed;
};
typedef CUevent_st* cudaEvent_t;
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventWaitDefault 0x00

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                int priority) {
  *stream = new CUstream_st{flags, priority};
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (size_t(stream) <= 2) return simt_result(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaPeekAtLastError(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = size_t(stream) <= 2 ? 0 : stream->priority;
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = size_t(stream) <= 2 ? 0 : stream->flags;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
typedef void (*cudaHostFn_t)(void*);
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void*);
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void* data, unsigned) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st{-1, (flags & cudaEventDisableTiming) == 0};
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = cudaEventDefault) {
  return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = 0) {
  if (event == nullptr) return simt_result(cudaErrorInvalidResourceHandle);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->ms = double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0,
                                            unsigned = 0) {
  return cudaEventRecord(event, stream);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return event == nullptr ? simt_result(cudaErrorInvalidResourceHandle) : cudaPeekAtLastError();
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  return event == nullptr ? simt_result(cudaErrorInvalidResourceHandle) : cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t from, cudaEvent_t to) {
  if (from == nullptr || to == nullptr || from->ms < 0 || to->ms < 0 || !from->is_timed ||
      !to->is_timed) {
    return simt_result(cudaErrorInvalidResourceHandle);
  }
  // Programs divide by it.
  constexpr double kResolutionMs = 0.5e-3;
  const double elapsed = to->ms - from->ms;
  *elapsed_ms = float(elapsed >= 0 && elapsed < kResolutionMs ? kResolutionMs : elapsed);
  return cudaSuccess;
}
