// Starts copies of one operand's tile from global to shared memory that no thread waits for.
#pragma once

#include "cuda/ptx/cp_async.cuh"
#include "cuda/tile_cursor.cuh"

namespace tessera::cuda {

/// In shared memory element (line, p) lies at s_tile[p * kPitch + line]. A panel that is contiguous
/// along its lines arrives V elements at a time. One that is contiguous along k has to be
/// transposed, and a copy does not change the order of its bytes: it arrives element by element.
template <class T, int kLines, int kDepth, int kThreads, int V>
class AsyncLoader {
  using AlongDepth = WalkAlongDepth<kLines, kDepth, kThreads, 1>;
  using AlongLines = WalkAlongLines<kLines, kDepth, kThreads, V>;

 public:
  static constexpr int kPitch = vector_pitch(kLines, sizeof(T));

  __device__ AsyncLoader(const Panel<T>& x, std::int64_t first_line, int thread)
      : along_depth_(x.depth_is_contiguous()),
        cursor_(along_depth_ ? Cursor(x, first_line, AlongDepth(thread))
                             : Cursor(x, first_line, AlongLines(thread))) {}

  /// Starts copying the next tile along k; zeros where the panel ends, so that a tile that hangs
  /// over adds nothing.
  __device__ void start(T* s_tile) {
    along_depth_ ? start_as<AlongDepth, 1>(s_tile) : start_as<AlongLines, V>(s_tile);
  }

 private:
  using Cursor = TileCursor<T, kLines, kDepth>;

  template <class Walk, int kWidth>
  __device__ void start_as(T* s_tile) {
    if (cursor_.is_whole()) {
#pragma unroll
      for (int i = 0; i < Walk::kItems; ++i) {
        ptx::cp_async<kWidth * sizeof(T)>(s_tile + cursor_.template place<Walk>(i),
                                          cursor_.template item<Walk>(i));
      }
    } else {
#pragma unroll
      for (int i = 0; i < Walk::kItems; ++i) {
        copy_present<kWidth>(s_tile + cursor_.template place<Walk>(i),
                             cursor_.template item<Walk>(i), cursor_.template present<Walk>(i));
      }
    }
    cursor_.template advance<Walk>();
  }

  /// A vector that the edge cuts is copied by element: it may lie at the end of the allocation.
  /// Zeros are stored at once, which whoever reads them next comes after all the same.
  template <int kWidth>
  static __device__ void copy_present(T* s_to, const T* g_from, int present) {
    if (present >= kWidth) {
      ptx::cp_async<kWidth * sizeof(T)>(s_to, g_from);
      return;
    }
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      if (e < present) {
        ptx::cp_async<sizeof(T)>(s_to + e, g_from + e);
      } else {
        s_to[e] = T{0};
      }
    }
  }

  bool along_depth_;
  Cursor cursor_;
};

}  // namespace tessera::cuda
