// The bytes that an operand touches, and whether two operands share one.
#pragma once

#include <cstdint>

#include "tessera/plan.h"

namespace tessera {

/// A matrix as runs of contiguous elements: rows of a row-major one, columns of a column-major one.
struct Runs {
  std::int64_t count;   // runs
  std::int64_t length;  // elements in one
};
inline Runs runs_of(const OperandDesc& x) {
  return x.layout == Layout::kRowMajor ? Runs{x.rows, x.cols} : Runs{x.cols, x.rows};
}

/// Bytes an operand touches: `count` intervals of `width`, `pitch` apart, from `base`.
struct Footprint {
  std::intptr_t base, end;
  std::int64_t count, width, pitch;
};

/// Throws Error(kInvalidArgument): the end of x at `data` is beyond 2^63.
[[noreturn]] void refuse_end(const char* name, const OperandDesc& x, const void* data);

/// Of `batch` members at `data`. Throws as refuse_end. Inline, as what follows: a small product
/// takes less time than a dozen calls.
inline Footprint footprint(const char* name, const OperandDesc& x, DType dtype, std::int64_t batch,
                           const void* data) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const Runs runs = runs_of(x);
  // ld counts only where it steps from one run to the next; elsewhere it may be any number.
  const std::int64_t pitch = runs.count > 1 ? x.ld * size : 0;
  const std::int64_t bytes = (runs.count - 1) * pitch + runs.length * size;
  const std::int64_t span = batch > 1 ? (batch - 1) * x.batch_stride * size : 0;
  Footprint out{reinterpret_cast<std::intptr_t>(data), 0, runs.count, runs.length * size, pitch};
  if (__builtin_add_overflow(out.base, span > 0 ? span : 0, &out.end) ||
      __builtin_add_overflow(out.end, bytes, &out.end) ||
      __builtin_add_overflow(out.base, span < 0 ? span : 0, &out.base)) {
    refuse_end(name, x, data);
  }
  return out;
}

/// For ranges of addresses that overlap.
bool share_bytes_within(const Footprint& x, const Footprint& y);

/// Exact when both step by the same pitch and neither is `batched`; else whether the ranges of
/// addresses overlap.
inline bool share_bytes(const Footprint& x, const Footprint& y, bool batched) {
  if (x.end <= y.base || y.end <= x.base) return false;
  return batched || share_bytes_within(x, y);
}

}  // namespace tessera
