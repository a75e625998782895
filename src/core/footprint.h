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
Runs runs_of(const OperandDesc& x);

/// Bytes an operand touches: `count` intervals of `width`, `pitch` apart, from `base`.
struct Footprint {
  std::intptr_t base, end;
  std::int64_t count, width, pitch;
};

/// Of `batch` members at `data`. Throws Error(kInvalidArgument) when its end is beyond 2^63.
Footprint footprint(const char* name, const OperandDesc& x, DType dtype, std::int64_t batch,
                    const void* data);

/// Exact when both step by the same pitch and neither is `batched`; else whether the ranges of
/// addresses overlap.
bool share_bytes(const Footprint& x, const Footprint& y, bool batched);

}  // namespace tessera
