// Error checks and the choice of a device, as CUDA's sample programs call them.
#pragma once

#include <stdint.h>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

template <class T>
inline void check(T result, const char* function, const char* file, int line) {
  if (!result) return;
  fprintf(stderr, "CUDA error at %s:%d code=%u(%s) \"%s\" \n", file, line, unsigned(result),
          _cudaGetErrorEnum(result), function);
  exit(EXIT_FAILURE);
}
#define checkCudaErrors(value) check((value), #value, __FILE__, __LINE__)

inline bool simt_print_last_error(const char* message, const char* file, int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return false;
  fprintf(stderr, "%s(%i) : CUDA error : %s : (%d) %s.\n", file, line, message, int(error),
          cudaGetErrorString(error));
  return true;
}
inline void __getLastCudaError(const char* message, const char* file, int line) {
  if (simt_print_last_error(message, file, line)) exit(EXIT_FAILURE);
}
inline void __printLastCudaError(const char* message, const char* file, int line) {
  simt_print_last_error(message, file, line);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline int ftoi(float value) { return int(value < 0 ? value - 0.5f : value + 0.5f); }

/// FP32 lanes of a multiprocessor.
inline int _ConvertSMVer2Cores(int major, int minor) {
  switch (major) {
    case 3:
      return 192;
    case 6:
      return minor == 0 ? 64 : 128;
    case 7:
      return 64;
    case 8:
      return minor == 0 ? 64 : 128;
    default:
      return 128;
  }
}
inline const char* _ConvertSMVer2ArchName(int major, int minor) {
  switch (major) {
    case 5:
      return "Maxwell";
    case 6:
      return "Pascal";
    case 7:
      return minor == 5 ? "Turing" : "Volta";
    case 8:
      return minor == 9 ? "Ada" : "Ampere";
    case 9:
      return "Hopper";
    default:
      return "Blackwell";
  }
}

inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device));
  return device;
}
/// -device=N, or the only one.
inline int findCudaDevice(int argc, const char** argv) {
  int device = 0;
  if (checkCmdLineFlag(argc, argv, "device")) {
    device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
  }
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDeviceProperties(&properties, device));
  printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device,
         _ConvertSMVer2ArchName(properties.major, properties.minor), properties.major,
         properties.minor);
  return device;
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) {
  const cudaDeviceProp p = simt_device_properties();
  return p.major > major || (p.major == major && p.minor >= minor);
}
