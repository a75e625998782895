#include "simt/run/fiber.h"

#include <sys/mman.h>

#include <boost/context/preallocated.hpp>
#include <memory>

#include "tessera/error.h"

namespace tessera::simt {
namespace {

/// The stacks belong to Stacks.
struct NoAllocator {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

Stacks::Stacks(int count) : bytes_(static_cast<std::size_t>(count) * kPitch) {
  void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    throw Error(ErrorCode::kOutOfMemory, "check: no memory for the stacks of a block");
  }
  base_ = reinterpret_cast<std::uintptr_t>(p);
  for (int i = 0; i < count; ++i) {
    mprotect(reinterpret_cast<void*>(base_ + i * kPitch), kGuard, PROT_NONE);
  }
}

Stacks::~Stacks() { munmap(reinterpret_cast<void*>(base_), bytes_); }

void Fiber::start(std::uintptr_t stack_low, Entry entry, void* argument) {
  boost::context::stack_context stack;
  stack.size = Stacks::kBytes;
  stack.sp = reinterpret_cast<void*>(stack_low + Stacks::kBytes);
  const boost::context::preallocated place(stack.sp, stack.size, stack);
  new (storage_) Inner(std::allocator_arg, place, NoAllocator{}, [=, this](Inner&& caller) {
    outside_ = &caller;
    entry(argument);
    return std::move(caller);
  });
}

}  // namespace tessera::simt
