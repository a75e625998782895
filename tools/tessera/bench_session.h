// What `bench`, `ladder` and `tune` share: the device, its peaks and clocks, the peers, the rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/contest.h"
#include "bench/report.h"
#include "cli.h"
#include "mul.h"
#include "tune_store.h"

namespace tessera::cli {

struct SessionOptions {
  std::string device = "auto";
  std::vector<std::string> kernels;          ///< requests; unknown and impossible ones are left out
  std::vector<std::string> peers = {"all"};  ///< names, "all" or "none"
  int threads = 0;
  double seconds = 1;
  std::string data = "normal";
  bool f64 = false;   ///< some case is FP64: its peak is needed
  bool peaks = true;  ///< false: run nothing but what is asked for
};

class BenchSession {
 public:
  /// Chooses the device, opens the peers, measures the peaks. Throws Error when nothing is left to
  /// run.
  BenchSession(const std::string& verb, const SessionOptions& options);

  const DeviceChoice& device() const { return device_; }
  const bench::Field& field() const { return field_; }
  bench::RunReport& report() { return report_; }

  /// Runs every contender on one case; returns the new rows, which are also in the report. A case
  /// whose operands cannot be had here is left out.
  std::vector<bench::Row> run(const bench::Case& c, bench::CacheState cache);
  /// One product of each contender, and nothing else.
  void run_once(const bench::Case& c);
  /// Runs other kernels, by id, and timed seconds for each.
  std::vector<bench::Row> run(const bench::Case& c, bench::CacheState cache,
                              const std::vector<std::string>& kernels, double seconds);
  /// Who runs on a case: "all" and "tuned" replaced by what they come to there.
  bench::Field field_for(const bench::Case& c) const;
  void leave_out(const std::string& what, int exit_code);

  /// Where a row beats the peaks, measures these again, a few times: another program may have had
  /// the machine meanwhile.
  void doubt_peaks();
  /// Peaks once more, then the verdicts that need them. Call once, after the last case.
  void finish();
  /// Throws CheckFailed for a row that failed, was wrong or implausible, else Error for the first
  /// thing left out that should have run: what makes the exit code.
  void judge() const;

 private:
  /// False when the work threw: then the case is left out.
  bool try_case(const bench::Case& c, const std::function<void()>& work);
  void choose_kernels(const SessionOptions& options);
  void open_the_peers(const SessionOptions& options);
  void watch_clocks();
  bench::Roofs measure_roofs(bool again) const;
  /// What was asked for, with "all" replaced by the kernels for the case's type.
  std::vector<std::string> requests_for(const bench::Case& c) const;
  TunedRequest tuned_for(const bench::Case& c) const;
  std::vector<bench::Row> run(const bench::Case& c, bench::CacheState cache, bench::Field field);

  bool with_f64_ = false, any_ran_ = false;
  DeviceChoice device_;
  bench::Field field_;
  bench::RunReport report_;
  std::unique_ptr<bench::ClockWatch> clocks_;
  bench::TuneCache tuned_;  // filled when "tuned" was asked for
  bench::DeviceKey key_;
};

/// Throws Error for the first thing left out that should have run.
void judge_left_out(const std::vector<bench::LeftOut>& left_out, bool any_ran = true);
/// Why a kernel's name means nothing here, with the exit code that alone would give the run.
std::optional<bench::LeftOut> kernel_fault(const std::string& request);
/// What opens the JSON of a run, but for its results.
Json report_head(const std::string& verb, const DeviceChoice& device,
                 const bench::Settings& settings, double seconds);

/// Fills the row's counted and, on a GPU, measured counters; returns why there are none of the
/// latter, if so.
std::string add_counts(bench::Row& row, int device);
/// What having Tessera costs; runs this process's first product, so call it before anything else.
Json cost_json(const std::string& device);
void print_cost(const Json& cost);
/// Seconds from source to report, and watched accesses a second, of `tessera check`.
Json checker_json();
void print_checker(const Json& json);

/// Where the run takes place, in one or two lines, with its peaks; and the peers.
void print_conditions(const BenchSession& session, const bench::RunReport& report);
/// One case: a heading and a line for each row.
void print_case(const bench::RunReport& report, const std::vector<bench::Row>& rows);
/// Geometric means, what was left out, clocks.
void print_summary(const bench::RunReport& report);

}  // namespace tessera::cli
