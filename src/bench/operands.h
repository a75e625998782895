// The operands of a case: how large they are, how many sets it takes to defeat a cache, and whether
// a C is right. On the host; host_arena.cc and cuda_arena.cc put them where they are multiplied.
#pragma once

#include <cstdint>
#include <string>

#include "bench/case.h"
#include "bench/data.h"
#include "bench/measure.h"
#include "core/host_buffer.h"

namespace tessera::bench {

struct Settings {
  int threads = 1;
  DataKind data = DataKind::kNormal;
  std::uint64_t seed = 1;
  /// Bytes of operands that count as cold; 0: enough to pass the device's last cache.
  std::int64_t cold_bytes = 0;
};

/// Elements from the first to the last of an operand with all its batch.
std::int64_t span_of(const OperandDesc& x, std::int64_t batch);

/// Bytes of one operand in a slab of several sets: its span, rounded up to whole 256-byte lines.
struct SetBytes {
  std::int64_t a = 0, b = 0, c = 0;
  std::int64_t total() const { return a + b + c; }
};
/// Throws Error(kUnsupported) for a negative batch stride and for sizes that do not fit 63 bits.
SetBytes set_bytes(const Case& c);

/// Sets that together hold `wanted_bytes`, at least one; at most `most`, within `memory_bytes`.
std::int64_t sets_to_hold(const SetBytes& bytes, std::int64_t wanted_bytes, std::int64_t most,
                          std::int64_t memory_bytes);

/// A, B and, when beta is not 0, C0 of one set, filled, with what they must still be afterwards.
class HostOperands {
 public:
  HostOperands(const Case& c, const Settings& settings);

  const Case& what() const { return case_; }
  const SetBytes& bytes() const { return bytes_; }
  void* a() const { return a_.data(); }
  void* b() const { return b_.data(); }
  void* c0() const { return c0_.data(); }  ///< null when beta is 0

  /// The product in `c`, a set's C on the host, against A, B and C0 (verify.h).
  Check check(const void* c) const;

 private:
  template <class In, class T>
  Check check_as(const T* c) const;

  Case case_;
  int threads_;
  SetBytes bytes_;
  HostBuffer a_, b_, c0_;
};

/// Sees every change of a byte that matters here, at memory speed.
std::size_t fingerprint(const void* data, std::size_t bytes);

}  // namespace tessera::bench
