// Data of the benchmark. Random normal numbers: zeros, ones and small integers draw less power and
// so run faster than real data.
#include <algorithm>
#include <limits>
#include <random>

#include "bench.h"

namespace tessera::cli {
namespace {

template <class T>
void normal(T* data, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<T> distribution;
  std::generate(data, data + count, [&] { return distribution(bits); });
}

}  // namespace

void fill_normal(DType dtype, void* data, std::int64_t count, std::uint64_t seed) {
  if (dtype == DType::kF32) {
    normal(static_cast<float*>(data), count, seed);
  } else {
    normal(static_cast<double*>(data), count, seed);
  }
}

void fill_nan(DType dtype, void* data, std::int64_t count) {
  if (dtype == DType::kF32) {
    std::fill_n(static_cast<float*>(data), count, std::numeric_limits<float>::quiet_NaN());
  } else {
    std::fill_n(static_cast<double*>(data), count, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace tessera::cli
