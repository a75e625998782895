#!/usr/bin/env python3
"""A CUDA kernel as a PyTorch extension, built just in time, as the exercise teaches it.

    python examples/load_inline.py                    build, run, check (needs a GPU and nvcc)
    python examples/load_inline.py --source mine.cu   your own kernel: a file that defines
                                                      extern "C" void solve(A, B, C, M, K, N)
    python examples/load_inline.py --build-only       build and load, multiply nothing

The extension exports shared_gemm_cuda(A, B), which runs the kernel below, and library_gemm_cuda(A,
B), which calls Tessera's C interface by the headers that the package installs. Both are checked as
the exercise does: N = 1024, seed 42, normal FP32, largest difference from A @ B under 1e-2.

Exit code 0: right, or no GPU here (it says so). 1: the build failed (with the compiler's message),
or a result is wrong.
"""

import argparse
import os
import sys
import time

# One thread computes one element; a block loads tiles of A and B that all its threads share.
KERNEL = r"""
constexpr int kTile = 16;

__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[kTile][kTile];
  __shared__ float s_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int t = 0; t < K; t += kTile) {
    s_a[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
    s_b[ty][tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0.0f;
    __syncthreads();  // stored before it is read
    for (int k = 0; k < kTile; ++k) sum += s_a[ty][k] * s_b[k][tx];
    __syncthreads();  // read before the next tiles are stored
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  tiled<<<grid, dim3(kTile, kTile)>>>(A, B, C, M, N, K);
}
"""

BINDING = r"""
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <tessera/tessera.h>

static void check_operands(const torch::Tensor& A, const torch::Tensor& B) {
  TORCH_CHECK(A.is_cuda() && B.is_cuda(), "A and B must be on a GPU");
  TORCH_CHECK(A.dtype() == torch::kFloat32 && B.dtype() == torch::kFloat32, "FP32 is needed");
  TORCH_CHECK(A.dim() == 2 && B.dim() == 2 && A.size(1) == B.size(0),
              "A is ", A.sizes(), " and B is ", B.sizes(), ": the inner sizes must be equal");
}

torch::Tensor shared_gemm_cuda(torch::Tensor A, torch::Tensor B) {
  check_operands(A, B);
  const c10::cuda::CUDAGuard guard(A.device());
  A = A.contiguous();
  B = B.contiguous();
  auto C = torch::empty({A.size(0), B.size(1)}, A.options());
  // solve() launches on the default stream: what was enqueued on the current one comes first.
  C10_CUDA_CHECK(cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream()));
  solve(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), A.size(0), A.size(1),
        B.size(1));
  C10_CUDA_CHECK(cudaGetLastError());
  C10_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  return C;
}

torch::Tensor library_gemm_cuda(torch::Tensor A, torch::Tensor B) {
  check_operands(A, B);
  A = A.contiguous();
  B = B.contiguous();
  auto C = torch::empty({A.size(0), B.size(1)}, A.options());
  tessera_options options;
  tessera_options_init(&options);
  options.space = TESSERA_CUDA;
  options.stream = c10::cuda::getCurrentCUDAStream(A.device().index()).stream();
  const auto status = tessera_sgemm(
      TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, A.size(0), B.size(1), A.size(1), 1.0f,
      A.data_ptr<float>(), A.size(1), B.data_ptr<float>(), B.size(1), 0.0f, C.data_ptr<float>(),
      B.size(1), &options);
  TORCH_CHECK(status == TESSERA_OK, tessera_last_error());
  return C;
}
"""

DECLARATIONS = """
torch::Tensor shared_gemm_cuda(torch::Tensor A, torch::Tensor B);
torch::Tensor library_gemm_cuda(torch::Tensor A, torch::Tensor B);
"""


def build(kernel):
    """The extension; raises RuntimeError with the compiler's message when it cannot be built."""
    import tessera
    from torch.utils.cpp_extension import load_inline

    return load_inline(
        name="shared_gemm",
        cpp_sources=DECLARATIONS,
        cuda_sources=kernel + BINDING,
        functions=["shared_gemm_cuda", "library_gemm_cuda"],
        extra_include_paths=[tessera.include_dir()],
        extra_ldflags=[tessera.library_file()],
    )


def largest_difference(extension, name, n=1024):
    import torch

    torch.manual_seed(42)
    a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
    difference = (getattr(extension, name)(a, b) - a @ b).abs().max().item()
    print(f"{name}: largest difference from A @ B at {n} x {n} is {difference:.2e}")
    return difference


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", help="a CUDA file that defines solve()")
    parser.add_argument("--build-only", action="store_true", help="multiply nothing")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing to do")
        return 0
    if not torch.cuda.is_available() and not options.build_only:
        print("no GPU that PyTorch can use: nothing was built, nothing was run")
        return 0
    if not torch.cuda.is_available():
        os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0")
    kernel = KERNEL
    if options.source:
        with open(options.source, encoding="utf-8") as file:
            kernel = file.read()
    start = time.perf_counter()
    try:
        extension = build(kernel)
    except (RuntimeError, OSError, ImportError) as error:
        print(f"the extension could not be built:\n{error}", file=sys.stderr)
        return 1
    print(f"built and loaded in {time.perf_counter() - start:.1f} s")
    if options.build_only:
        return 0
    results = [largest_difference(extension, f) for f in ("shared_gemm_cuda", "library_gemm_cuda")]
    if all(difference < 1e-2 for difference in results):
        print("right: under 1e-2")
        return 0
    print("wrong: not under 1e-2", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
