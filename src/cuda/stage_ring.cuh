// A ring of stages in shared memory that the copy engine fills and warps empty, without a barrier
// for the whole block.
//
// Each stage has three mbarriers. `full` completes when its bytes have arrived; `turned` when every
// thread has brought its part of them into another order, where that is needed; `empty` when every
// warp has said that it has read them. Whoever fetches waits for `empty`, whoever reads for `full`
// or `turned`.
#pragma once

#include "cuda/ptx/mbarrier.cuh"

namespace tessera::cuda {

/// kStages stages of kStageBytes at the start of the block's shared memory, then the barriers.
template <int kStages, int kStageBytes>
class StageRing {
  static_assert(kStageBytes % 128 == 0, "the copy engine writes to multiples of 128 bytes");
  static constexpr int kBarriers = kStages * kStageBytes;

 public:
  static constexpr int kBytes = kBarriers + kStages * 24;

  /// At stage 0. One thread must then call initialise, and all meet at a barrier.
  __device__ explicit StageRing(const void* s_memory)
      : full_(ptx::shared_address(s_memory) + kBarriers) {}

  __device__ void initialise(int warps) const {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full_ + i * 8, 1);
      ptx::mbarrier_init(full_ + (kStages + i) * 8, static_cast<unsigned>(warps));
      ptx::mbarrier_init(full_ + (2 * kStages + i) * 8, static_cast<unsigned>(warps) * 32);
    }
    ptx::mbarrier_init_fence();
  }

  __device__ int stage() const { return stage_; }

  __device__ void advance() {
    ++stage_, full_ += 8;
    if (stage_ == kStages) wrap();
  }
  /// The place `count` < kStages stages further on.
  __device__ StageRing ahead(int count) const {
    StageRing to = *this;
    to.stage_ += count, to.full_ += count * 8;
    if (to.stage_ >= kStages) to.wrap();
    return to;
  }

  __device__ void wait_full() const { ptx::mbarrier_wait(full_, parity_); }
  /// Once from each thread, after its writes to the stage.
  __device__ void announce_turned() const { ptx::mbarrier_arrive(turned()); }
  __device__ void wait_turned() const { ptx::mbarrier_wait(turned(), parity_); }
  /// Once from each warp, after its last read of the stage.
  __device__ void release() const { ptx::mbarrier_arrive(empty()); }
  /// Waits until the stage may be overwritten and announces that kStageBytes will arrive, which the
  /// copies must count towards full(). Returns where they go.
  __device__ ptx::SharedAddress begin_refill() const {
    ptx::mbarrier_wait(empty(), parity_ ^ 1);
    ptx::mbarrier_arrive_expect(full_, kStageBytes);
    return full_ - stage_ * 8 - kBarriers + stage_ * kStageBytes;
  }
  __device__ ptx::SharedAddress full() const { return full_; }

 private:
  __device__ ptx::SharedAddress empty() const { return full_ + kStages * 8; }
  __device__ ptx::SharedAddress turned() const { return full_ + kStages * 16; }
  __device__ void wrap() { stage_ -= kStages, full_ -= kStages * 8, parity_ ^= 1; }

  ptx::SharedAddress full_;  // of this stage
  int stage_ = 0;
  unsigned parity_ = 0;  // of the phase of `full` that this turn of the ring completes
};

}  // namespace tessera::cuda
