// `tessera bench`: what is measured, and what it may say of a run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/plan.h"

namespace tessera::cli {

struct BenchShape {
  std::int64_t m = 0, n = 0, k = 0;
};

struct BenchSettings {
  Op op_a = Op::kN, op_b = Op::kN;
  DType dtype = DType::kF32;
  Space space = Space::kHost;
  int device = 0;
  int threads = 1;
  double seconds = 1;  ///< timed, for each kernel and shape
};

/// A speed stands only beside kPassed.
enum class Disposition { kPassed, kIncorrect, kFailed, kNotSupported };
std::string_view to_string(Disposition disposition);

struct BenchRow {
  BenchShape shape;
  std::string requested;  ///< as named, e.g. "auto"
  std::string kernel;     ///< id, when one was chosen
  Disposition disposition = Disposition::kFailed;
  std::string detail;           ///< why, unless passed
  std::vector<double> seconds;  ///< of one product, per sample
  int products_per_sample = 1;
  double median_s() const;
  double min_s() const;
  double max_s() const;
};

double flops_of(const BenchShape& shape);

/// Runs every kernel on one shape, samples interleaved. Each kernel is verified before the timed
/// loop and again on what the loop left in C, which is filled with NaN before both; a change of A
/// or B is a failure.
std::vector<BenchRow> bench_shape(const BenchShape& shape, const std::vector<std::string>& kernels,
                                  const BenchSettings& settings);

/// The same with the choice of kernels out of the way, so that a test can pass one that is wrong.
struct BenchProduct {
  std::string requested, kernel;
  std::function<void()> run;                   ///< one product, complete on return
  std::function<double(int products)> time_s;  ///< seconds for that many, back to back
  std::function<void()> poison;                ///< C := NaN
  std::function<std::string()> fault;          ///< empty when C is right and A and B are intact
};
void measure(std::vector<BenchProduct>& products, double seconds, std::vector<BenchRow>& rows);

/// Random normal numbers (mean 0, variance 1), the same for the same seed.
void fill_normal(DType dtype, void* data, std::int64_t count, std::uint64_t seed);
void fill_nan(DType dtype, void* data, std::int64_t count);

}  // namespace tessera::cli
