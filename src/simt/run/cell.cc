#include "simt/run/cell.h"

#include <sys/mman.h>

#include "tessera/error.h"

namespace tessera::simt {
namespace {

std::size_t cells_bytes(std::size_t bytes, int shift) {
  return (((bytes + (std::size_t{1} << shift) - 1) >> shift) + 1) * sizeof(Cell);
}

// Pages that nobody touches cost nothing, and all-zero cells are what a new one must be.
Cell* map_cells(std::size_t bytes, int shift) {
  void* p = mmap(nullptr, cells_bytes(bytes, shift), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    throw Error(ErrorCode::kOutOfMemory, "check: no memory to watch an allocation with");
  }
  return static_cast<Cell*>(p);
}

}  // namespace

void Shadow::reset(std::size_t bytes) {
  release();
  bytes_ = bytes;
  shift_ = 2;
  cells_ = map_cells(bytes, shift_);
}

void Shadow::split(int shift) {
  Cell* finer = map_cells(bytes_, shift);
  const std::size_t count = granules(), parts = std::size_t{1} << (shift_ - shift);
  for (std::size_t i = 0; i < count; ++i) {
    const Cell& c = cells_[i];
    if (c.write.epoch == 0 && c.read[0].epoch == 0) continue;
    std::fill_n(finer + i * parts, std::min(parts, ((bytes_ - 1) >> shift) + 1 - i * parts), c);
  }
  const std::size_t bytes = bytes_;
  release();
  cells_ = finer;
  bytes_ = bytes;
  shift_ = shift;
}

void Shadow::release() {
  if (cells_ != nullptr) munmap(cells_, cells_bytes(bytes_, shift_));
  cells_ = nullptr;
}

}  // namespace tessera::simt
