// C = beta * C, for products without a product: k == 0 or alpha == 0.
#include "core/backend.h"
#include "cuda/launch.cuh"

namespace tessera::cuda {
namespace {

constexpr int kTileRows = 8, kTileCols = 32;

template <class T>
__global__ void __launch_bounds__(kTileRows* kTileCols)
    scale_kernel(T* c, std::int64_t rows, std::int64_t cols, std::int64_t ldc,
                 std::int64_t stride_c, T beta) {
  const std::int64_t row = std::int64_t{blockIdx.y} * kTileRows + threadIdx.y;
  const std::int64_t col = std::int64_t{blockIdx.x} * kTileCols + threadIdx.x;
  if (row >= rows || col >= cols) return;
  T& element = c[blockIdx.z * stride_c + row * ldc + col];
  // beta == 0 must not read C: it may hold NaN, or nothing yet.
  element = beta == T{0} ? T{0} : beta * element;
}

template <class T>
void scale_as(const Problem& p, T beta, T* c, void* stream) {
  if (beta == T{1}) return;
  for_each_part(p.m, p.n, p.batch, kTileRows, kTileCols, [&](const Part& part) {
    launch(scale_kernel<T>, part.grid, dim3(kTileCols, kTileRows), stream,
           c + part.batch * p.stride_c + part.row * p.ldc + part.col, part.rows, part.cols, p.ldc,
           p.stride_c, beta);
  });
}

}  // namespace

void scale(const Problem& problem, double beta, void* c, void* stream) {
  if (problem.dtype == DType::kF32) {
    scale_as(problem, static_cast<float>(beta), static_cast<float*>(c), stream);
  } else {
    scale_as(problem, beta, static_cast<double*>(c), stream);
  }
}

}  // namespace tessera::cuda
