// Copies one operand's tiles from global to shared memory with cp.async, whichever way it is
// stored.
#pragma once

#include "cuda/gemm_args.cuh"
#include "cuda/ptx/cp_async.cuh"

namespace tessera::cuda {

/// How an operand is walked. Lines (rows of op(A), columns of op(B)) lie side by side in shared
/// memory, so 16 bytes at once need lines that lie side by side in global memory too.
enum class Access {
  kVectors,  ///< along lines, 16 bytes at once: pointer, step and number of lines divide by four
  kLines,    ///< along lines, 4 bytes at once
  kDepth,    ///< along p, 4 bytes at once: the copy transposes
};

/// A tile is kLines lines, kDepth deep; element (line, p) goes to s_tile[p * kPitch + line]. The
/// tiles of one object follow each other along p, each from where the last one ended.
///
/// Along p, eight lanes take the 32 bytes of one sector and a warp four lines; kPitch mod 32 = 4
/// then spreads the warp's 32 writes over all banks.
template <Access kAccess, int kLines, int kDepth, int kPitch, int kThreads>
class AsyncTile {
  static constexpr bool kAlongDepth = kAccess == Access::kDepth;
  static constexpr int kWidth = kAccess == Access::kVectors ? 4 : 1;  // floats in one copy

  /// Threads side by side along lines: a divisor, so that a thread's copies differ by constants.
  static constexpr int threads_per_row() {
    int count = kThreads / kDepth < kLines / kWidth ? kThreads / kDepth : kLines / kWidth;
    while (kLines / kWidth % count != 0) --count;
    return count;
  }
  static constexpr int kRowThreads = kAlongDepth ? 8 : threads_per_row();
  static constexpr int kRows = kThreads / kRowThreads;
  static constexpr int kLineStep = kAlongDepth ? kRows : kRowThreads * kWidth;
  static constexpr int kDepthStep = kAlongDepth ? 8 : kDepth;
  static constexpr int kItems = kLines / kLineStep;
  static constexpr int kOffsets = kAlongDepth ? kItems : 1;
  static_assert(kLines % kLineStep == 0 && kDepth % kDepthStep == 0);

 public:
  __device__ AsyncTile(const Panel<float>& x, std::int64_t first_line, std::int64_t first_p,
                       int thread)
      : p_(kAlongDepth ? thread % 8 : thread / kRowThreads), step_(x.depth_step) {
    const int line = kAlongDepth ? thread / 8 : thread % kRowThreads * kWidth;
    const int last = static_cast<int>(min(x.lines - first_line, std::int64_t{kLines})) - 1;
    to_ = p_ * kPitch + line;
    lines_ = last + 1 - line;
    g_next_ = x.at(first_line + (kAlongDepth ? 0 : line), first_p + p_);
#pragma unroll
    for (int i = 0; i < kOffsets; ++i) {
      // Past the last line the last one is read again: its results are never stored.
      offset_[i] = kAlongDepth ? min(line + i * kLineStep, last) * x.line_step : 0;
    }
  }

  /// Copies the next kDepth values of p, or zeros when not `present`.
  __device__ __forceinline__ void copy(float* s_tile, bool present) {
    copy_where(s_tile, [present](int) { return present; });
    g_next_ += kDepth * step_;
  }

  /// Copies the next `depth` <= kDepth values of p and zeros after them.
  __device__ __forceinline__ void copy_short(float* s_tile, int depth) {
    copy_where(s_tile, [depth, this](int p) { return p_ + p < depth; });
    g_next_ += depth * step_;
  }

 private:
  template <class Present>
  __device__ __forceinline__ void copy_where(float* s_tile, Present present) {
    if (!kAlongDepth && kRows > kDepth && p_ >= kDepth) return;  // more threads than copies
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
#pragma unroll
      for (int p = 0; p < kDepth; p += kDepthStep) {
        float* s_to = s_tile + to_ + p * kPitch + i * kLineStep;
        if constexpr (kAlongDepth) {
          ptx::cp_async<4>(s_to, g_next_ + offset_[i] + p, present(p));
        } else {
          ptx::cp_async<4 * kWidth>(s_to, g_next_ + i * kLineStep,
                                    i * kLineStep < (present(p) ? lines_ : 0));
        }
      }
    }
  }

  const float* g_next_;
  std::int64_t offset_[kOffsets];  // along p: from g_next_ to this thread's lines
  int p_, to_;
  int lines_;  // that exist from this thread's first on
  std::int64_t step_;
};

}  // namespace tessera::cuda
