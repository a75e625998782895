#include "tessera/solve.h"

#include "core/backend.h"
#include "tessera/gemm.h"

extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  using namespace tessera;
  if (M == 0 || N == 0) return;
  constexpr auto kSpace = Space::kCuda;
  gemm(Op::kN, Op::kN, 1.0F, row_major(A, M, K, kSpace), row_major(B, K, N, kSpace), 0.0F,
       row_major(C, M, N, kSpace));
  const cuda::DeviceGuard guard(cuda::device_of(C, "C"));
  cuda::synchronise(nullptr);
}
