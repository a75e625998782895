// One thread of a kernel, as a fiber: it runs until it waits, and is then resumed where it was.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <new>

namespace tessera::simt {

/// Stacks for as many fibers as a block can have, each with a page below it that faults.
class Stacks {
 public:
  explicit Stacks(int count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::uintptr_t low(int i) const { return base_ + i * kPitch + kGuard; }
  bool contains(std::uintptr_t p) const { return p - base_ < bytes_; }
  /// In the guard page of some stack: it ran over.
  bool is_guard(std::uintptr_t p) const { return contains(p) && (p - base_) % kPitch < kGuard; }

  static constexpr std::size_t kBytes = 256 * 1024;

 private:
  static constexpr std::size_t kGuard = 4096, kPitch = kBytes + kGuard;
  std::uintptr_t base_ = 0;
  std::size_t bytes_ = 0;
};

/// A fiber on a given stack. One that has not ended is abandoned by the next start, not unwound:
/// the frames belong to the checked program.
class Fiber {
 public:
  using Entry = void (*)(void*);

  void start(std::uintptr_t stack_low, Entry entry, void* argument);
  /// Runs it until it yields or ends.
  void resume() { inside().operator=(static_cast<Inner&&>(inside()).resume()); }
  /// Called on the fiber: back to resume()'s caller.
  void yield() { *outside_ = static_cast<Inner&&>(*outside_).resume(); }

 private:
  using Inner = boost::context::fiber;
  Inner& inside() { return *std::launder(reinterpret_cast<Inner*>(storage_)); }

  alignas(Inner) std::byte storage_[sizeof(Inner)];
  Inner* outside_ = nullptr;  // lies on the fiber's own stack
};

}  // namespace tessera::simt
