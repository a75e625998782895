// From a Problem to launches of a kernel.
#pragma once

#include <cuda_runtime.h>

#include "cuda/check.h"
#include "cuda/gemm_args.cuh"
#include "cuda/grid.h"
#include "tessera/kernel.h"

namespace tessera::cuda {

enum class Start {
  kAfterEnd,   ///< of everything in front of it in the stream
  kWithinEnd,  ///< of the kernel in front of it, for whose results it must wait itself
};

/// kernel<<<grid, block, shared_bytes, stream>>>(args...), checked. The error is this launch's own:
/// what an earlier call of the caller left behind is neither read nor cleared.
template <class... Params, class... Args>
void launch_at(Start start, void (*kernel)(Params...), dim3 grid, dim3 block, int shared_bytes,
               void* stream, Args&&... args) {
  constexpr int kWithoutAsking = 48 * 1024;
  if (shared_bytes > kWithoutAsking) {
    TESSERA_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            shared_bytes));
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = static_cast<cudaStream_t>(stream);
#if CUDART_VERSION >= 12030  // the first that captures it into a graph
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = start == Start::kWithinEnd ? 1 : 0;
#else
  static_cast<void>(start);
#endif
  TESSERA_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Args>(args)...));
}

template <class... Params, class... Args>
void launch_with_shared(void (*kernel)(Params...), dim3 grid, dim3 block, int shared_bytes,
                        void* stream, Args&&... args) {
  launch_at(Start::kAfterEnd, kernel, grid, block, shared_bytes, stream,
            std::forward<Args>(args)...);
}

template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, void* stream, Args&&... args) {
  launch_with_shared(kernel, grid, block, 0, stream, std::forward<Args>(args)...);
}

template <class T>
GemmArgs<T> args_of(const Problem& p, const Operands& x, const Part& part) {
  GemmArgs<T> args{};
  args.a = {static_cast<const T*>(x.a) + part.batch * p.stride_a,
            part.rows,
            p.k,
            p.trans_a ? 1 : p.lda,
            p.trans_a ? p.lda : 1,
            p.stride_a};
  args.b = {static_cast<const T*>(x.b) + part.batch * p.stride_b,
            part.cols,
            p.k,
            p.trans_b ? p.ldb : 1,
            p.trans_b ? 1 : p.ldb,
            p.stride_b};
  args.a.g = args.a.at(part.row, 0);
  args.b.g = args.b.at(part.col, 0);
  args.c = static_cast<T*>(x.c) + part.batch * p.stride_c + part.row * p.ldc + part.col;
  args.m = part.rows;
  args.n = part.cols;
  args.k = p.k;
  args.ldc = p.ldc;
  args.stride_c = p.stride_c;
  args.alpha = static_cast<T>(x.alpha);
  args.beta = static_cast<T>(x.beta);
  return args;
}

/// Runs `kernel`, whose blocks compute tile_m x tile_n elements of C each, over the whole problem.
template <class T>
void launch_gemm(void (*kernel)(GemmArgs<T>), const Problem& p, const Operands& x, int tile_m,
                 int tile_n, dim3 block, void* stream) {
  for_each_part(p.m, p.n, p.batch, tile_m, tile_n, [&](const Part& part) {
    launch(kernel, part.grid, block, stream, args_of<T>(p, x, part));
  });
}

}  // namespace tessera::cuda
