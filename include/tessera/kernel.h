// The registry: what a kernel says of itself, and the canonical problem every kernel sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/matrix.h"
#include "tessera/precision.h"

namespace tessera {

/// A product in canonical form: C is row-major, so that a kernel has four cases and no more.
/// Any mix of layouts and ops reduces to it (src/core/canonical.h).
///
///   A(i, p) is a[i * lda + p], or a[p * lda + i] when trans_a      (i < m, p < k)
///   B(p, j) is b[p * ldb + j], or b[j * ldb + p] when trans_b      (p < k, j < n)
///   C(i, j) is c[i * ldc + j]                                      (i < m, j < n)
///
/// Kernels are called with m, n, k, batch >= 1 and alpha != 0 only; the rest is settled before.
struct Problem {
  DType dtype = DType::kF32;   ///< of C, the scalars, products and sums
  std::optional<DType> input;  ///< of A and B; empty: dtype
  Space space = Space::kHost;
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements between batch members
  /// Largest power of two, at most 256, that divides the pointer, ld and batch stride in bytes.
  int align_a = 256, align_b = 256, align_c = 256;
  Precision precision = Precision::kNative;
  Determinism determinism = Determinism::kRunToRun;

  DType input_dtype() const { return input.value_or(dtype); }
};

/// Pointers and scalars of one run. alpha and beta are values of C's type.
struct Operands {
  double alpha = 1, beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// A device and what choosing and sizing kernels needs to know of it.
struct DeviceInfo {
  Space space = Space::kHost;
  int index = 0;
  std::string name;
  // CPU
  int cores = 1;                  ///< cores this process may run on
  std::string simd;               ///< instruction set in use, e.g. "AVX3_SPR"
  std::int64_t l1_bytes = 0;      ///< data cache of one core
  std::int64_t l2_bytes = 0;      ///< of one core
  std::int64_t l3_bytes = 0;      ///< shared; 0 when there is none
  std::int64_t memory_bytes = 0;  ///< physical memory of the host, or of the GPU
  // CUDA
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  int max_threads_per_block = 0;
  std::int64_t shared_bytes_per_block = 0;  ///< with opt-in
  std::int64_t l2_cache_bytes = 0;
};

/// `backend.family.dtype[.config]`, e.g. cuda.register_tiled.f32.128x128x8_t8x8.
struct KernelId {
  std::string backend;        ///< "cpu" or "cuda"
  std::string family;         ///< e.g. "blocked"
  DType dtype = DType::kF32;  ///< of A and B
  std::string config;         ///< empty when the family has one configuration

  std::string to_string() const;
  /// Inverse of to_string; std::nullopt when the text is not a complete id.
  static std::optional<KernelId> parse(std::string_view text);
};

/// Why a kernel cannot take a problem, and what would let it.
struct Rejection {
  std::string rule;    ///< e.g. "lda * 4 bytes must be a multiple of 16; lda is 1001"
  std::string unlock;  ///< e.g. "an lda of 1004"; empty when nothing about the data would help
};

/// Where and with what a kernel runs.
struct LaunchContext {
  const DeviceInfo& device;
  int threads = 1;  ///< CPU: at most this many, the caller's included
  void* stream = nullptr;
  void* workspace = nullptr;  ///< at least workspace_bytes(problem, ...), 256-byte aligned
  std::size_t workspace_bytes = 0;
};

/// One registered kernel with one element type and one configuration.
struct Kernel {
  KernelId id;
  std::string name;     ///< id.to_string(), filled in by Registry::add
  std::string stem;     ///< source file without suffix, e.g. "k02_tiled"
  std::string summary;  ///< one line: the idea
  std::string why;      ///< one line: what it does about what held the rung before; may be empty
  std::string arch;     ///< what it needs, e.g. "any CPU", "sm_50 or newer"
  std::string limits;   ///< what it cannot take; "none" when it takes every problem
  /// Elements of C and of k that one unit of work covers: where its edges are, for test shapes.
  std::int64_t tile_m = 1, tile_n = 1, tile_k = 1;
  /// Whether `tessera ladder` shows it; false when it is made for other shapes than square ones.
  bool is_rung = true;
  int alignment_bytes = 0;  ///< of pointers and rows; the element size when nothing is required

  /// std::nullopt when it can. Must be complete: after it says yes, launch gives a right answer.
  std::function<std::optional<Rejection>(const Problem&, const DeviceInfo&)> can_implement;
  /// Bytes of scratch memory (of the device's space) that launch needs. Empty means none.
  std::function<std::size_t(const Problem&, const DeviceInfo&, int threads)> workspace_bytes;
  /// Predicted time in microseconds, from shape and device only: it orders candidates for "auto".
  std::function<double(const Problem&, const DeviceInfo&)> estimate_us;
  /// Runs it. CPU: C is complete on return. CUDA: enqueued on the stream.
  std::function<void(const Problem&, const Operands&, const LaunchContext&)> launch;

  /// Whether `request` is its id, its first two or three parts, or its stem.
  bool answers_to(const std::string& request) const;
};

/// One kernel considered for a problem.
struct Candidate {
  std::string id;
  std::optional<Rejection> rejection;  ///< set when it cannot take the problem
  double estimate_us = 0;              ///< predicted, also for a rejected one
};

/// Why a kernel was chosen.
struct Explanation {
  std::string chosen;
  std::string reason;  ///< one line
  std::vector<Candidate> candidates;
  /// Changes of shape, ld or alignment that would unlock a kernel predicted to be faster.
  std::vector<std::string> unlocks;

  /// Several lines for people.
  std::string to_string() const;
};

/// The kernels of one build, in registration order (by file name).
class Registry {
 public:
  void add(Kernel kernel);
  const std::vector<Kernel>& kernels() const { return kernels_; }

  /// The kernel for `request`: "auto", an id, a family or a stem. Of those that can take the
  /// problem, the one with the smallest estimate, the first registered when equal: it depends on
  /// the registry, problem, device and request only. Throws Error(kUnsupported) when none can take
  /// the problem, Error(kInvalidArgument) for a name that does not exist.
  const Kernel& choose(const Problem& problem, const DeviceInfo& device,
                       const std::string& request = "auto") const;
  /// The same choice with its reasons. Throws as choose does.
  Explanation explain(const Problem& problem, const DeviceInfo& device,
                      const std::string& request = "auto") const;

 private:
  std::vector<Kernel> kernels_;
};

/// The registry of this build; filled on first use, then constant.
const Registry& registry();

/// The CPU this process runs on.
const DeviceInfo& cpu_device();
/// CUDA devices that can be used here; empty without a GPU, a driver or a CUDA build.
const std::vector<DeviceInfo>& cuda_devices();
/// Why cuda_devices() is empty, in one line; empty text when it is not.
std::string cuda_unavailable_reason();

}  // namespace tessera
