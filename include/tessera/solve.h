// The one-function interface of GEMM judges and course exercises. Only in builds with CUDA kernels.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// C = A * B for row-major, densely packed FP32 matrices in device memory: A is M x K, B is K x N,
/// C is M x N. Note the order M, K, N.
///
/// Runs the kernel that "auto" chooses on the default stream of the device that owns C, and returns
/// when C is complete. A size of 0 is allowed; with K == 0, C becomes zero.
/// On failure it throws tessera::Error as tessera::gemm does; a program in C, which cannot catch
/// it, ends there.
void solve(const float* A, const float* B, float* C, int M, int K, int N);

#ifdef __cplusplus
}
#endif
