// What tuning measured: a timing for each kernel on each shape, kept apart by whatever changes it.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/result.h"

namespace tessera::bench {

/// Where and by what a time was measured: times of two keys are never mixed.
struct DeviceKey {
  std::string device;    ///< model with SIMD and threads, or with its compute capability
  std::string driver;    ///< of the GPU; empty on the CPU
  std::string compiler;  ///< of C++ and CUDA, with what else changes the code they make
  std::string commit;    ///< of the program; never equal for two programs that may differ
  std::string data, cache;
  auto operator<=>(const DeviceKey&) const = default;
};

/// A case in the form that kernels see (Problem): row-major C, so that layouts are ops.
struct TuneShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::string ops;  ///< "NN", "NT", "TN", "TT"
  DType dtype = DType::kF32;
  /// What is not plain, e.g. "lda 1024, batch 3 of 0 64 64, reads C"; empty for a dense product.
  std::string form;
  auto operator<=>(const TuneShape&) const = default;
};
/// Throws as canonicalise does.
TuneShape tune_shape(const Case& c);
/// "1024x512x256 NT f64 (batch ...)"
std::string to_string(const TuneShape& shape);

struct TuneTiming {
  Disposition disposition = Disposition::kFailed;
  double median_s = 0, noise = 0;  ///< of a passed one
  std::string date;
  bool passed() const { return disposition == Disposition::kPassed; }
};

struct TunedShape {
  std::map<std::string, TuneTiming> kernels;  ///< by id
  /// The fastest in the contest that was run last. A smaller time from another run does not count:
  /// clocks differ from run to run.
  std::string winner;

  /// Ids that passed: the winner, then the others by time.
  std::vector<std::string> by_merit() const;
};

class TuneCache {
 public:
  using Shapes = std::map<TuneShape, TunedShape>;

  const std::map<DeviceKey, Shapes>& entries() const { return entries_; }
  /// Null when there is none.
  const Shapes* find(const DeviceKey& key) const;
  const TunedShape* find(const DeviceKey& key, const TuneShape& shape) const;

  /// Takes in one contest: its timings replace older ones, and its winner stands unless a kernel
  /// that took no part has a smaller time.
  void put(const DeviceKey& key, const TuneShape& shape, const TunedShape& contest);
  /// Takes in another cache; of two timings of one kernel the later stays.
  void merge(const TuneCache& other);

 private:
  std::map<DeviceKey, Shapes> entries_;
};

/// The program that reads a cache: of its own entries it knows which kernels there can be.
struct TuneReader {
  std::string compiler, commit;
  std::function<bool(const std::string& id)> has_kernel;
};

/// A cache from JSON. Entries that cannot be true are left out, each with a line in `faults`;
/// those of other programs and devices are kept. Throws Error(kBadFile) when it is no cache at all.
TuneCache read_tune_cache(const std::string& file, const Json& json, const TuneReader& reader,
                          std::vector<std::string>* faults);
Json tune_cache_json(const TuneCache& cache);

}  // namespace tessera::bench
