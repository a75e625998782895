#include "core/pointer_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/footprint.h"
#include "tessera/error.h"

namespace tessera {
namespace {

using std::int64_t;
using std::intptr_t;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "gemm: " + message);
}

bool empty(const OperandDesc& x) { return x.rows == 0 || x.cols == 0; }

template <class T>
intptr_t address_of(const T* p) {
  return reinterpret_cast<intptr_t>(p);
}

/// What all members of one operand have in common: the footprint of one at address 0.
Footprint shape_of(const char* name, const OperandDesc& x, DType dtype) {
  return footprint(name, x, dtype, 1, nullptr);
}

Footprint at(Footprint shape, intptr_t address) {
  shape.base += address;
  shape.end += address;
  return shape;
}

template <class T>
void check_members(const char* name, const T* const* pointers, int64_t batch, const OperandDesc& x,
                   DType dtype) {
  if (empty(x)) return;
  if (pointers == nullptr) {
    refuse(fmt::format("the array of pointers to {} is null, but batch = {}", name, batch));
  }
  const intptr_t furthest = INTPTR_MAX - shape_of(name, x, dtype).end;
  for (int64_t i = 0; i < batch; ++i) {
    const void* const data = pointers[i];
    if (data == nullptr) {
      refuse(fmt::format("{}[{}] is null, but has {} x {} elements", name, i, x.rows, x.cols));
    }
    if (address_of(data) % static_cast<intptr_t>(sizeof(T)) != 0) {
      refuse(fmt::format("{}[{}] is at address {}, which must be a multiple of {}", name, i, data,
                         sizeof(T)));
    }
    if (address_of(data) > furthest) {
      refuse(fmt::format("{}[{}] at address {} is {} x {}: its last byte lies beyond 2^63", name, i,
                         data, x.rows, x.cols));
    }
  }
}

/// One C, in the order of addresses.
struct Member {
  intptr_t address;
  int64_t index;
};

bool before(const Member& x, const Member& y) {
  return x.address != y.address ? x.address < y.address : x.index < y.index;
}

const Member* first_at_least(const Member* begin, const Member* end, intptr_t address) {
  return std::lower_bound(begin, end, address,
                          [](const Member& x, intptr_t least) { return x.address < least; });
}

/// A C of [begin, end), each of shape `c`, that shares a byte with x; null when there is none.
const Member* find_shared(const Footprint& x, const Footprint& c, const Member* begin,
                          const Member* end) {
  const intptr_t extent = c.end - c.base;
  begin = first_at_least(begin, end, x.base < extent ? 0 : x.base - extent + 1);
  end = first_at_least(begin, end, x.end);
  const bool exact = x.count <= 1 || c.count <= 1 || x.pitch == c.pitch;
  const int64_t steps = x.count + c.count - 1;
  if (!exact || end - begin <= steps) {
    const auto shares = [&](const Member& m) { return share_bytes(x, at(c, m.address), false); };
    const Member* const found = std::find_if(begin, end, shares);
    return found == end ? nullptr : found;
  }
  // Very many blocks side by side in one matrix: those that a run of x meets lie in one interval
  // for each difference of run numbers.
  const int64_t pitch = x.count > 1 ? x.pitch : c.pitch;
  for (int64_t step = 1 - c.count; step < x.count; ++step) {
    const intptr_t run = x.base + step * pitch;
    const Member* const found = first_at_least(begin, end, run - c.width + 1);
    if (found != end && found->address < run + x.width) return found;
  }
  return nullptr;
}

void refuse_shared_outputs(const Footprint& c, const Member* sorted, int64_t batch) {
  for (int64_t i = 0; i + 1 < batch; ++i) {
    const Member* const next = sorted + i + 1;
    const Footprint x = at(c, sorted[i].address);
    if (next->address >= x.end) continue;
    if (const Member* const found = find_shared(x, c, next, sorted + batch)) {
      const auto [low, high] = std::minmax(sorted[i].index, found->index);
      refuse(fmt::format("C[{}] shares memory with C[{}]: the matrices C must not overlap", low,
                         high));
    }
  }
}

template <class T>
void refuse_shared_inputs(const char* name, const T* const* pointers, const OperandDesc& x,
                          DType dtype, const Footprint& c, const Member* sorted, int64_t batch) {
  if (empty(x)) return;
  const Footprint shape = shape_of(name, x, dtype);
  const intptr_t c_begin = sorted[0].address, c_end = sorted[batch - 1].address + c.end;
  for (int64_t i = 0; i < batch; ++i) {
    const Footprint input = at(shape, address_of(pointers[i]));
    if (input.end <= c_begin || c_end <= input.base) continue;
    if (const Member* const found = find_shared(input, c, sorted, sorted + batch)) {
      refuse(
          fmt::format("C[{}] shares memory with {}[{}]: C must not overlap an input of any "
                      "member (copy {}[{}] first)",
                      found->index, name, i, name, i));
    }
  }
}

}  // namespace

std::size_t pointer_check_bytes(int64_t batch) {
  return static_cast<std::size_t>(batch) * sizeof(Member);
}

template <class T>
void check_pointer_batch(const PointerBatch<T>& x, bool product, void* memory) {
  const GemmDesc& desc = x.desc;
  if (empty(desc.c)) return;
  check_members("C", x.c, x.batch, desc.c, desc.dtype);
  if (product) {
    check_members("A", x.a, x.batch, desc.a, desc.dtype);
    check_members("B", x.b, x.batch, desc.b, desc.dtype);
  }
  Member* const sorted = static_cast<Member*>(memory);
  for (int64_t i = 0; i < x.batch; ++i) sorted[i] = {address_of(x.c[i]), i};
  std::sort(sorted, sorted + x.batch, before);
  const Footprint c = shape_of("C", desc.c, desc.dtype);
  refuse_shared_outputs(c, sorted, x.batch);
  if (!product) return;
  refuse_shared_inputs("A", x.a, desc.a, desc.dtype, c, sorted, x.batch);
  refuse_shared_inputs("B", x.b, desc.b, desc.dtype, c, sorted, x.batch);
}

template void check_pointer_batch<float>(const PointerBatch<float>&, bool, void*);
template void check_pointer_batch<double>(const PointerBatch<double>&, bool, void*);

}  // namespace tessera
