// Where contenders meet: the operand sets of one case in one memory space.
#pragma once

#include <memory>

#include "bench/measure.h"
#include "bench/operands.h"
#include "bench/product.h"

namespace tessera::bench {

class Arena {
 public:
  virtual ~Arena() = default;
  /// One product and nothing else on the device, for profilers; complete on return.
  virtual void once(const RunProduct& run) = 0;
  /// The loop's view of one contender. The arena must outlive it.
  virtual Timed timed(RunProduct run) = 0;
  /// What products are to be enqueued on; null on the host.
  virtual void* stream() const { return nullptr; }
  /// Operand sets that a sample's products take in turn.
  virtual std::int64_t sets() const = 0;
  /// Bytes of all sets, and how many it takes to pass the last cache.
  virtual std::int64_t bytes() const = 0;
  virtual std::int64_t cold_bytes() const = 0;
  /// How the last sample was timed: "graph replay", ...
  virtual std::string timer() const = 0;
  /// Launches of one product of a contender; empty on the host or where it cannot be captured.
  virtual std::vector<gpu::Launch> launches(const RunProduct& run) = 0;
};

/// Sets of operands on the host; every C is poisoned and judged there. Cold: as many sets as
/// pass the last cache twice.
std::unique_ptr<Arena> host_arena(const Case& c, CacheState cache, const Settings& settings);
/// The same on the current CUDA device. Cold: as many sets as pass L2 three times.
std::unique_ptr<Arena> cuda_arena(const Case& c, CacheState cache, const Settings& settings);

}  // namespace tessera::bench
