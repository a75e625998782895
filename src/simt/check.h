// `tessera check`, from the source to the report.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simt/gemm/driver.h"
#include "simt/report/report.h"
#include "simt/run/session.h"

namespace tessera::simt {

struct CheckOptions {
  std::string path;                    ///< of the .cu
  std::vector<std::string> flags;      ///< for the compiler: -I, -D, -std, libraries
  std::vector<std::string> arguments;  ///< of a program with main
  bool as_lone_kernel = false;         ///< drive a kernel although there is a main
  DriverOptions driver;                ///< m = 0: sizes are chosen
  bool count = true;                   ///< access quality too
  bool use_nvcc = true;                ///< compiled widths, registers, occupancy
  std::string architecture = "sm_90";
  int workers = 0;  ///< 0: one a core
  double time_limit_s = 60;
  std::uint64_t max_accesses = 400'000'000;
  std::uint64_t thread_accesses = Limits{}.thread_accesses;
  RunOptions::Output output = RunOptions::Output::kStdout;
  bool keep_products = false;  ///< the matrices of a lone kernel are kept, for comparison
};

/// Sizes of a lone kernel's product when none are given: several blocks either way for the usual
/// tiles, and none of them divides anything.
inline constexpr std::int64_t kDefaultM = 150, kDefaultN = 139, kDefaultK = 75;

using Sizes = std::array<std::int64_t, 3>;  ///< M, N, K

/// A source that is translated and compiled once, and run as often as one likes. Throws Error:
/// kBadFile for a file that cannot be read, kUnsupported for one that does not compile or asks for
/// what the executor lacks, kInvalidArgument for a kernel that cannot be called.
class CheckedProgram {
 public:
  explicit CheckedProgram(CheckOptions options);
  ~CheckedProgram();
  CheckedProgram(const CheckedProgram&) = delete;
  CheckedProgram& operator=(const CheckedProgram&) = delete;

  const CheckOptions& options() const;
  const std::string& source() const;
  /// It is run through simt_drive: it has no main, or is to be taken so.
  bool is_lone() const;

  /// At the sizes of the options.
  Report run();
  /// A lone kernel at these sizes; `count` also counts accesses.
  Report run(const Sizes& sizes, bool count);
  /// Whether a lone kernel has no finding at these sizes; what it prints is not shown.
  bool is_clean(const Sizes& sizes);
  /// The sizes of the options, or those chosen where they leave it open.
  Sizes sizes() const;
  /// How a lone kernel is called, and on what.
  Driver driver() const;
  DriveSizes drive(const Sizes& sizes) const;
  /// Where the last run of a lone kernel at these sizes left its matrices (run/elements.h).
  std::string product_file(const Sizes& sizes) const;
  /// A folder that lasts as long as this object.
  const std::string& folder() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// One run of one source.
Report check(const CheckOptions& options);

}  // namespace tessera::simt
