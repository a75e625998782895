// Shadow memory: who touched these bytes last, and when.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tessera::simt {

/// One access. Epochs number the intervals between block barriers, over all blocks that a worker
/// runs, from 1 on; so an epoch tells the block and the launch too, and old ones need no clearing.
struct Access {
  std::uint32_t epoch = 0;
  std::uint32_t pc : 25 = 0;       ///< offset in the checked program's image
  std::uint32_t sequence : 7 = 0;  ///< position in the thread's interval; saturates
  std::uint32_t thread : 10 = 0;
  std::uint32_t warp_epoch : 22 = 0;  ///< __syncwarps passed within the interval

  static constexpr std::uint32_t kLastSequence = 127;
};

struct Cell {
  Access write;
  Access read[2];  ///< the interval's first reader, and another one
  std::uint8_t write_is_atomic = 0;
  std::uint8_t in_flight = 0;  ///< an asynchronous copy to here has not been waited for
};

/// Memory that is watched: a shared array or an allocation. A granule is 4 bytes, until a smaller
/// access asks for less.
class Shadow {
 public:
  Shadow() = default;
  explicit Shadow(std::size_t bytes) { reset(bytes); }
  ~Shadow() { release(); }
  Shadow(Shadow&& other) noexcept { swap(other); }
  Shadow& operator=(Shadow&& other) noexcept {
    swap(other);
    return *this;
  }

  void reset(std::size_t bytes);
  int shift() const { return shift_; }
  std::size_t granules() const { return (bytes_ + (std::size_t{1} << shift_) - 1) >> shift_; }
  Cell& at(std::size_t offset) const { return cells_[offset >> shift_]; }
  Cell* cells() { return cells_; }
  explicit operator bool() const { return cells_ != nullptr; }
  /// Splits the granules so that an access of `bytes` at `offset` covers whole ones.
  void refine(std::size_t offset, std::size_t bytes) {
    const int need = bytes % 4 == 0 && offset % 4 == 0 ? 2 : bytes % 2 == 0 && offset % 2 == 0;
    if (need < shift_) split(need);
  }

 private:
  void split(int shift);
  void release();
  void swap(Shadow& other) {
    std::swap(cells_, other.cells_);
    std::swap(bytes_, other.bytes_);
    std::swap(shift_, other.shift_);
  }

  Cell* cells_ = nullptr;
  std::size_t bytes_ = 0;
  int shift_ = 2;
};

}  // namespace tessera::simt
