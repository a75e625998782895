#include "bench/library_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "bench/child_process.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

using std::int64_t;

Problem dense(int64_t m, int64_t n, int64_t k) {
  Problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = k;
  p.ldb = n;
  p.ldc = n;
  return p;
}

std::vector<float> small_integers(int64_t count, int step) {
  std::vector<float> out(static_cast<std::size_t>(count));
  int value = 0;
  for (float& x : out) {
    value = (value + step) % 11;
    x = static_cast<float>(value - 5);
  }
  return out;
}

/// Small integers, so that the product is exact in any order of summing.
bool multiplies_right(const CpuLibrary& library) {
  const Problem p = dense(67, 45, 131);
  const std::vector<float> a = small_integers(p.m * p.k, 3), b = small_integers(p.k * p.n, 7);
  std::vector<float> c(static_cast<std::size_t>(p.m * p.n), -1.0f);
  library.multiply(p, {1, 0, a.data(), b.data(), c.data()});
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int64_t q = 0; q < p.k; ++q) {
        sum += a[static_cast<std::size_t>(i * p.k + q)] * b[static_cast<std::size_t>(q * p.n + j)];
      }
      const bool right = c[static_cast<std::size_t>(i * p.n + j)] == sum;
      if (!right) return false;
    }
  }
  return true;
}

double best_seconds(const CpuLibrary& library) {
  constexpr int64_t kSize = 256;
  constexpr int kTries = 6;  // the first ones also load pages and start threads
  const Problem p = dense(kSize, kSize, kSize);
  const std::vector<float> a = small_integers(kSize * kSize, 3);
  std::vector<float> c(a.size());
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    library.multiply(p, {1, 0, a.data(), a.data(), c.data()});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    best = std::min(best, elapsed.count());
  }
  return best;
}

}  // namespace

Trial try_library(const CpuPeerKind& kind, const std::string& file, const std::string& core) {
  constexpr double kMostSeconds = 20;
  const ChildResult result = in_child_process(kMostSeconds, [&] {
    if (!core.empty()) setenv(kind.core_variable.c_str(), core.c_str(), 1);
    const std::unique_ptr<CpuLibrary> library = kind.open(file);
    library->set_threads(1);
    if (!multiplies_right(*library)) throw Error(ErrorCode::kUnsupported, "its product is wrong");
    const double seconds = kind.cores.empty() ? 0 : best_seconds(*library);
    return fmt::format("{:.9f} {}", seconds, library->core());
  });
  Trial trial;
  trial.ok = result.ok;
  if (!result.ok) {
    trial.why = result.text;
    return trial;
  }
  std::istringstream fields(result.text);
  fields >> trial.seconds >> std::ws;
  std::getline(fields, trial.core);
  return trial;
}

std::optional<CoreChoice> better_core(const CpuPeerKind& kind, const std::string& file,
                                      const Trial& own) {
  // Less may be chance on a busy machine; a wrong core costs more than this.
  constexpr double kClearly = 1.2;
  std::string core;
  Trial best = own;
  for (const std::string& candidate : kind.cores) {
    const Trial trial = try_library(kind, file, candidate);
    if (!trial.ok || trial.core == own.core || trial.seconds * kClearly >= best.seconds) continue;
    core = candidate;
    best = trial;
  }
  if (core.empty()) return std::nullopt;
  // Once more on its own: what else ran here may have slowed the first trial.
  const double own_seconds = std::min(own.seconds, try_library(kind, file, "").seconds);
  if (best.seconds * kClearly >= own_seconds) return std::nullopt;
  return CoreChoice{core,
                    fmt::format("{}={} set by the benchmark: left to itself this library takes the "
                                "processor for {}, in a short trial {:.1f} times slower",
                                kind.core_variable, core, own.core, own_seconds / best.seconds)};
}

}  // namespace tessera::bench
