// 16-byte loads from rows whose length is no multiple of four.
// check: --gemm 16,16,18 --block 16,16 --grid 1
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = threadIdx.y, col = threadIdx.x;
  float sum = 0;
  int k = 0;
  for (; k + 4 <= K; k += 4) {
    const float4 a = *reinterpret_cast<const float4*>(A + row * K + k);  // FAULT: misaligned-access
    sum += a.x * B[k * N + col] + a.y * B[(k + 1) * N + col] + a.z * B[(k + 2) * N + col] + a.w * B[(k + 3) * N + col];
  }
  for (; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
