// `tessera tune`, with its runner and clock replaceable so that a test can make them lie.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/tune.h"
#include "bench_cases.h"
#include "mul.h"

namespace tessera::cli {

struct TuneArgs {
  CaseArgs cases;
  std::vector<std::string> kernels;  ///< which may win; empty: all
  std::string device = "auto";
  int threads = 0;
  std::string budget = "60s";
  double seconds = 0.2;
  bool fresh = false, list = false, json = false;
  std::string export_to, import_from, json_file;
};

struct TuneEngines {
  bench::TuneRunner run;          ///< empty: a real contest
  std::function<double()> now_s;  ///< empty: a steady clock
};

/// Throws Error, or CheckFailed when a kernel failed or was wrong: then it cannot win.
int run_tune(const TuneArgs& args, const TuneEngines& engines = {});

/// Seconds of "90", "90s", "2m" or "1h". Throws Error(kInvalidArgument).
double parse_duration(const std::string& option, const std::string& text);

/// One case: every kernel with its time or the reason why it has none, the best, and "auto".
void print_tune_case(const bench::TuneResult& result);
/// The best by size: of all kernels, or of each that was named.
void print_tune_summary(const std::vector<bench::TuneResult>& results,
                        const std::vector<std::string>& requests);
/// What a cache holds, and which of it counts here.
void print_tune_cache(const bench::TuneCache& cache, const bench::DeviceKey& here);
Json tune_json(const bench::TuneResult& result);

}  // namespace tessera::cli
