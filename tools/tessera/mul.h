// `tessera mul`, with its two engines replaceable so that a test can make them lie.
#pragma once

#include <functional>
#include <string>

#include "args.h"
#include "inputs.h"
#include "panel/panel_gemm.h"

namespace tessera::cli {

struct MulArgs {
  ProductArgs product;
  std::string out;
  std::string dtype;  ///< empty: the compute type
  std::string device = "auto";
  std::string kernel = "auto";
  int threads = 0;
  std::int64_t memory_bytes = 0;
  std::string verify = "freivalds";
  bool json = false, explain = false, quiet = false;
};

struct MulEngines {
  std::function<PanelReport(Op, Op, double, const io::FileMatrix&, const io::FileMatrix&, double,
                            const io::FileMatrix*, io::OutputMatrix&, const PanelOptions&)>
      multiply = panel_gemm;
  std::function<VerifyReport(const VerifyProblem&, const VerifyOptions&)> check = tessera::verify;
};

/// Where to run, and why.
struct DeviceChoice {
  Space space = Space::kHost;
  int index = 0;
  std::string reason;
  const DeviceInfo& info() const;
};
/// Throws Error(kNoDevice) when the one asked for is not there.
DeviceChoice choose_device(const std::string& device, const std::string& kernel, DType input);

/// Everything the report says.
struct MulOutcome {
  PanelReport panel;
  DeviceChoice device;
  int threads = 1;
  /// Where the kernel of --kernel tuned came from; empty for other kernels.
  std::string tuned;
  bool checked = false;
  bool check_forced = false;  ///< made although --verify off
  VerifyReport check;
  VerifyOptions check_options;
  double check_s = 0, total_s = 0;
  DType out_dtype = DType::kF32;
  bool written = false;
  std::int64_t out_bytes = 0;
};

/// Multiplies, checks, writes, reports. Throws Error, or CheckFailed when the check does not pass:
/// then nothing is written.
int run_mul(const MulArgs& args, const MulEngines& engines = {});

/// Prints the report for people, or as JSON.
void report_mul(const MulArgs& args, const Inputs& inputs, const MulOutcome& outcome);

}  // namespace tessera::cli
