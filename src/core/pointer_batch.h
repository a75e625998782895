// Arrays of pointers, one product each: what must hold before the first of them runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/plan.h"

namespace tessera {

template <class T>
struct PointerBatch {
  const GemmDesc& desc;  ///< of one member
  const T* const* a;
  const T* const* b;
  T* const* c;
  std::int64_t batch;
};

/// Memory that check_pointer_batch needs.
std::size_t pointer_check_bytes(std::int64_t batch);

/// Throws Error(kInvalidArgument) naming the member when a pointer is null or not aligned, when two
/// C share an element, or a C with an A or B of any member. Without a `product` only C is looked
/// at. Blocks of one matrix are told apart exactly, as in refuse_aliases.
template <class T>
void check_pointer_batch(const PointerBatch<T>& x, bool product, void* memory);

}  // namespace tessera
