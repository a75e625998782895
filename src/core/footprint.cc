#include "core/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/error.h"

namespace tessera {

using std::int64_t;

void refuse_end(const char* name, const OperandDesc& x, const void* data) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("gemm: {} at address {} is {} x {}: its last byte lies beyond 2^63", name,
                          data, x.rows, x.cols));
}

namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

bool share_bytes_within(const Footprint& x, const Footprint& y) {
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
