#include "core/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/error.h"

namespace tessera {

using std::int64_t;

Runs runs_of(const OperandDesc& x) {
  return x.layout == Layout::kRowMajor ? Runs{x.rows, x.cols} : Runs{x.cols, x.rows};
}

Footprint footprint(const char* name, const OperandDesc& x, DType dtype, int64_t batch,
                    const void* data) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  const Runs runs = runs_of(x);
  // ld counts only where it steps from one run to the next; elsewhere it may be any number.
  const int64_t pitch = runs.count > 1 ? x.ld * size : 0;
  const int64_t bytes = (runs.count - 1) * pitch + runs.length * size;
  const int64_t span = batch > 1 ? (batch - 1) * x.batch_stride * size : 0;
  Footprint out{reinterpret_cast<std::intptr_t>(data), 0, runs.count, runs.length * size, pitch};
  if (__builtin_add_overflow(out.base, std::max<int64_t>(span, 0), &out.end) ||
      __builtin_add_overflow(out.end, bytes, &out.end) ||
      __builtin_add_overflow(out.base, std::min<int64_t>(span, 0), &out.base)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("gemm: {} at address {} is {} x {}: its last byte lies beyond 2^63",
                            name, data, x.rows, x.cols));
  }
  return out;
}

namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

bool share_bytes(const Footprint& x, const Footprint& y, bool batched) {
  if (x.end <= y.base || y.end <= x.base) return false;
  if (batched) return true;
  const int64_t pitch = x.count > 1 ? x.pitch : y.pitch;
  if (x.count > 1 && y.count > 1 && x.pitch != y.pitch) return true;
  if (x.count <= 1 && y.count <= 1) return true;
  // Run i of x meets run j of y when t = i - j satisfies d - x.width < t * pitch < d + y.width.
  const int64_t d = y.base - x.base;
  const int64_t first = std::max(floor_div(d - x.width, pitch) + 1, -(y.count - 1));
  const int64_t last = std::min(floor_div(d + y.width - 1, pitch), x.count - 1);
  return first <= last;
}

}  // namespace tessera
