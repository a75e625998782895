// Moves one operand's tile from global to shared memory through registers, 16 bytes at a time.
#pragma once

#include "cuda/tile_cursor.cuh"
#include "cuda/vector.cuh"

namespace tessera::cuda {

/// In shared memory element (line, p) lies at s_tile[p * kPitch + line], so that the inner loop
/// reads lines side by side. The way to walk the panel is chosen at run time, the same for the
/// whole grid.
template <class T, int kLines, int kDepth, int kThreads, int V>
class VectorLoader {
  using AlongDepth = WalkAlongDepth<kLines, kDepth, kThreads, V>;
  using AlongLines = WalkAlongLines<kLines, kDepth, kThreads, V>;
  static_assert(AlongDepth::kItems == AlongLines::kItems);

 public:
  static constexpr int kPitch = vector_pitch(kLines, sizeof(T));

  __device__ VectorLoader(const Panel<T>& x, std::int64_t first_line, int thread)
      : along_depth_(x.depth_is_contiguous()),
        cursor_(along_depth_ ? Cursor(x, first_line, AlongDepth(thread))
                             : Cursor(x, first_line, AlongLines(thread))) {}

  /// Reads the next tile along k into registers; zeros where the panel ends, so that a tile that
  /// hangs over adds nothing.
  __device__ void fetch() { along_depth_ ? fetch_as<AlongDepth>() : fetch_as<AlongLines>(); }

  /// Writes what fetch read: as it came when lines are contiguous, transposed when k is.
  __device__ void store(T* s_tile) const {
    if (along_depth_) {
#pragma unroll
      for (int i = 0; i < AlongDepth::kItems; ++i) {
        T* s_item = s_tile + cursor_.template place<AlongDepth>(i);
#pragma unroll
        for (int e = 0; e < V; ++e) s_item[e * kPitch] = r_items_[i].element[e];
      }
    } else {
#pragma unroll
      for (int i = 0; i < AlongLines::kItems; ++i) {
        store_vector(s_tile + cursor_.template place<AlongLines>(i), r_items_[i]);
      }
    }
  }

 private:
  using Cursor = TileCursor<T, kLines, kDepth>;

  template <class Walk>
  __device__ void fetch_as() {
    if (cursor_.is_whole()) {
#pragma unroll
      for (int i = 0; i < Walk::kItems; ++i) {
        r_items_[i] = load_vector<V>(cursor_.template item<Walk>(i));
      }
    } else {
#pragma unroll
      for (int i = 0; i < Walk::kItems; ++i) {
        r_items_[i] =
            load_first<V>(cursor_.template item<Walk>(i), cursor_.template present<Walk>(i));
      }
    }
    cursor_.template advance<Walk>();
  }

  bool along_depth_;
  Cursor cursor_;
  Vector<T, V> r_items_[AlongDepth::kItems];
};

}  // namespace tessera::cuda
