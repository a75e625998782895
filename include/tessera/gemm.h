// C = alpha * op(A) * op(B) + beta * C, the one-call form.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/error.h"
#include "tessera/half.h"
#include "tessera/matrix.h"
#include "tessera/precision.h"

namespace tessera {

/// How a product is to be computed. The defaults are right for a single call.
struct GemmOptions {
  /// Arithmetic; reduced precision only when asked for here.
  Precision precision = Precision::kNative;
  /// What stays bit-identical from run to run.
  Determinism determinism = Determinism::kRunToRun;
  /// "auto", a kernel id ("cpu.blocked.f32"), a family ("cuda.register_tiled") or a file stem
  /// ("k03_register_tiled"). A kernel that cannot take the problem is refused, never replaced.
  std::string kernel = "auto";
  /// CPU threads; 0 means TESSERA_NUM_THREADS, else the cores this process may run on.
  int threads = 0;
  /// CUDA: the cudaStream_t to run on, null for the default stream. Ignored on the CPU.
  void* stream = nullptr;
};

/// C = alpha * op(A) * op(B) + beta * C.
///
/// op(A) is m x k, op(B) k x n, C m x n, in any mix of layouts; sizes are 64-bit. All three lie in
/// the same memory space.
///
/// Semantics, on every backend: beta == 0 (also -0.0) never reads C; alpha == 0 never reads A or B;
/// k == 0 makes C = beta * C whatever alpha is; otherwise NaN and infinity propagate as in IEEE
/// arithmetic (0 * inf is NaN). m == 0 or n == 0 touches nothing. C may not share an element with A
/// or B; interleaved blocks of one larger matrix are fine when they have the same ld and layout.
///
/// CPU: returns when C is complete; safe to call from many threads at once and after fork. Each
/// calling thread keeps the workspace of its largest call (under 64 MiB up to 256 threads) until it
/// ends; a Plan takes the caller's instead.
/// CUDA: enqueues on options.stream, on the device that owns C, and returns; the caller's current
/// device is left as it was. Nothing synchronises, so it can be captured into a graph. A kernel
/// that needs scratch memory gets it in the order of the stream, from a memory pool that the
/// library keeps for the device (cudaMallocFromPoolAsync; in a captured stream the memory belongs
/// to the graph): the first calls grow the pool, later ones reuse it. A Plan leaves the memory to
/// the caller.
/// A and B must be readable by that device: its own memory, managed, or a peer's with access
/// enabled.
///
/// Throws Error: kInvalidArgument for a broken shape, ld or alias rule (C untouched), kUnsupported
/// when no kernel (or not the one named) can do it, kNoDevice, kOutOfMemory, kDeviceFailure.
/// Source of the interface: the reference BLAS xGEMM, argument order kept, sizes taken from views.
void gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b,
          float beta, MatrixView<float> c, const GemmOptions& options = {});
void gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
          double beta, MatrixView<double> c, const GemmOptions& options = {});

/// The same for A and B of 16 bits: they are widened exactly, products and sums are FP32. The
/// kernel is one for that type, e.g. "cpu.blocked.bf16". CUDA: refused, kUnsupported.
void gemm(Op op_a, Op op_b, float alpha, MatrixView<const BFloat16> a, MatrixView<const BFloat16> b,
          float beta, MatrixView<float> c, const GemmOptions& options = {});
void gemm(Op op_a, Op op_b, float alpha, MatrixView<const Float16> a, MatrixView<const Float16> b,
          float beta, MatrixView<float> c, const GemmOptions& options = {});

/// `batch` products; the i-th uses a.data + i * stride_a, b.data + i * stride_b and
/// c.data + i * stride_c (strides in elements). stride_a and stride_b may be 0 (one matrix for
/// all) or negative; the C matrices may not overlap each other. Otherwise as gemm.
void gemm_strided_batched(Op op_a, Op op_b, float alpha, MatrixView<const float> a,
                          std::int64_t stride_a, MatrixView<const float> b, std::int64_t stride_b,
                          float beta, MatrixView<float> c, std::int64_t stride_c,
                          std::int64_t batch, const GemmOptions& options = {});
void gemm_strided_batched(Op op_a, Op op_b, double alpha, MatrixView<const double> a,
                          std::int64_t stride_a, MatrixView<const double> b, std::int64_t stride_b,
                          double beta, MatrixView<double> c, std::int64_t stride_c,
                          std::int64_t batch, const GemmOptions& options = {});
void gemm_strided_batched(Op op_a, Op op_b, float alpha, MatrixView<const BFloat16> a,
                          std::int64_t stride_a, MatrixView<const BFloat16> b,
                          std::int64_t stride_b, float beta, MatrixView<float> c,
                          std::int64_t stride_c, std::int64_t batch,
                          const GemmOptions& options = {});
void gemm_strided_batched(Op op_a, Op op_b, float alpha, MatrixView<const Float16> a,
                          std::int64_t stride_a, MatrixView<const Float16> b, std::int64_t stride_b,
                          float beta, MatrixView<float> c, std::int64_t stride_c,
                          std::int64_t batch, const GemmOptions& options = {});

/// `batch` products of one shape whose matrices lie anywhere: the i-th uses a_members[i],
/// b_members[i] and c_members[i]. a, b and c say what the members have in common; their data is
/// not looked at. The arrays are host memory, read before the call returns. Inputs may be used by
/// several members; the C matrices may share an element neither with each other nor with an input
/// of any member (blocks of one larger matrix are fine). Arrays and pointers that are not read
/// (alpha == 0, k == 0, batch == 0) may be null. An error names the member: "C[2] is null".
///
/// CPU: many small products are spread over the threads, one thread each; threads work inside a
/// product when it is large and there are few. Each member has the bits of the same call with one
/// thread. CUDA: refused, kUnsupported. Otherwise as gemm.
void gemm_pointer_batched(Op op_a, Op op_b, float alpha, MatrixView<const float> a,
                          const float* const* a_members, MatrixView<const float> b,
                          const float* const* b_members, float beta, MatrixView<float> c,
                          float* const* c_members, std::int64_t batch,
                          const GemmOptions& options = {});
void gemm_pointer_batched(Op op_a, Op op_b, double alpha, MatrixView<const double> a,
                          const double* const* a_members, MatrixView<const double> b,
                          const double* const* b_members, double beta, MatrixView<double> c,
                          double* const* c_members, std::int64_t batch,
                          const GemmOptions& options = {});

}  // namespace tessera
