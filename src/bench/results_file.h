// A file that `tessera bench --json-file` or `tessera ladder --json` wrote, read back.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/product.h"
#include "bench/result.h"

namespace tessera::bench {

/// Names and values for people, as the file has them.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// One row. Numbers are finite; what the file lacks is empty or has the default of Row.
struct FileRow {
  Case what;
  std::string cache = "warm";
  std::string requested, kernel;
  bool is_peer = false;
  std::string rung, why;  ///< of `tessera ladder` only
  Disposition disposition = Disposition::kFailed;
  std::string disposition_text, detail;
  std::optional<double> median_s, min_s, max_s;  ///< median_s is there when the row passed
  std::optional<double> noise;                   ///< half the distance of the quartiles / median
  std::optional<double> gbps, of_fma_peak, of_roofline, error_ratio;
  std::string bound, timer;
  std::vector<std::pair<std::string, double>> ratio_to;  ///< speed over each peer's
  std::vector<std::string> remarks;
  std::vector<gpu::Launch> launches;
  std::vector<std::pair<std::string, double>> counters, analytic;

  bool passed() const { return disposition == Disposition::kPassed; }
  double gflops() const { return flops_of(what) / *median_s / 1e9; }
  /// Floating-point operations for each byte of A, B and C, moved once.
  double intensity() const { return flops_of(what) / bytes_of(what); }
  /// The kernel's id, or what was asked for when there is none.
  const std::string& name() const { return kernel.empty() ? requested : kernel; }
};

/// Ceilings that the run measured; empty where it did not.
struct FilePeaks {
  std::optional<double> fma_gflops, fma_f64_gflops, outer_product_gflops;
  std::optional<double> shared_gbps, l2_gbps, l3_gbps, memory_gbps;
};

struct FileGeomean {
  std::string suite, cache, requested;
  std::int64_t cases = 0;
  std::optional<double> of_roofline;
  std::vector<std::pair<std::string, double>> ratio_to;
};

struct ResultsFile {
  std::string path, kind, date;
  std::string device_kind, device_name;
  Facts device, provenance, conditions, clocks;
  FilePeaks peaks;
  std::vector<PeerInfo> peers;
  std::vector<std::string> absent_peers, left_out;
  std::vector<FileRow> rows;      ///< at least one
  std::vector<FileRow> cpu_rows;  ///< the CPU side of `tessera ladder`
  std::vector<FileGeomean> geomeans;
};

/// The value of a fact; empty when there is none.
std::string fact(const Facts& facts, const std::string& name);

/// Reads the form of today and that without "schema". Fields that are unknown are passed over, line
/// breaks and control characters in texts are replaced. Throws Error(kBadFile), one line with the
/// file and the field, when it is no such file or says what cannot be true.
ResultsFile read_results(const std::string& path);

}  // namespace tessera::bench
