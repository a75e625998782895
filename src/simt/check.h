// `tessera check`, from the source to the report.
#pragma once

#include <cstdint>
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
};

/// Sizes of a lone kernel's product when none are given: several blocks either way for the usual
/// tiles, and none of them divides anything.
inline constexpr std::int64_t kDefaultM = 150, kDefaultN = 139, kDefaultK = 75;

/// Throws Error: kBadFile for a file that cannot be read, kUnsupported for one that does not
/// compile or asks for what the executor lacks, kInvalidArgument for a kernel that cannot be
/// called.
Report check(const CheckOptions& options);

}  // namespace tessera::simt
