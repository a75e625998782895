// The tuning cache on disk, and what "tuned" means with it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/tuned.h"
#include "mul.h"

namespace tessera::cli {

/// The request for the kernel that tuning found. Only the command line knows it.
inline constexpr const char* kTuned = "tuned";

/// $TESSERA_TUNE_CACHE, $XDG_CACHE_HOME/tessera/tune.json or ~/.cache/tessera/tune.json; empty when
/// none of the variables is set.
std::string tune_cache_path();

/// This program on a device. `threads` matters on the CPU only.
bench::DeviceKey device_key(const DeviceChoice& device, int threads);

/// The cache. What of it cannot be used is said in one line on stderr, unless `verb` is empty; a
/// file that is not there is an empty cache.
bench::TuneCache load_tune_cache(const std::string& verb);
/// A cache that was named: throws Error(kBadFile) when it is none.
bench::TuneCache read_tune_cache_file(const std::string& verb, const std::string& path);

/// Throws Error(kOutputFailure) when the cache could not be written.
void check_tune_cache_is_writable();
/// Reads the cache anew, changes it and replaces the file, while no other process does. A file
/// there that is no cache is kept, with ".bad" at the end of its name.
void update_tune_cache(const std::function<void(bench::TuneCache&)>& change);

/// What "tuned" comes to for one case.
struct TunedRequest {
  std::string kernel = "auto";
  std::string source;  ///< where that comes from, for reports
  /// It was measured, and so verified, on another shape only.
  bool unproved = false;
};
TunedRequest resolve_tuned(const bench::TuneCache& cache, const bench::Case& c,
                           const bench::DeviceKey& key);

}  // namespace tessera::cli
