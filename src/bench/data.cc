#include "bench/data.h"

#include <algorithm>
#include <random>
#include <type_traits>

#include "core/threads.h"
#include "tessera/half.h"

namespace tessera::bench {
namespace {

constexpr std::int64_t kChunk = 1 << 16;  // numbers that one generator makes

template <class T>
void fill_chunk(DataKind kind, T* data, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  if (kind == DataKind::kNormal) {
    std::normal_distribution<std::conditional_t<sizeof(T) == 8, double, float>> normal;
    std::generate_n(data, count, [&] { return T(normal(bits)); });
  } else if (kind == DataKind::kIntegers) {
    std::uniform_int_distribution<int> integer(-4, 4);
    std::generate_n(data, count, [&] { return T(static_cast<float>(integer(bits))); });
  } else {
    std::fill_n(data, count, T(0.0F));
  }
}

template <class T>
void fill_as(DataKind kind, T* data, std::int64_t count, std::uint64_t seed, int threads) {
  parallel_for(threads, (count + kChunk - 1) / kChunk, [&](std::int64_t chunk, int) {
    const std::int64_t first = chunk * kChunk;
    // Odd multiplier (the golden ratio in 64 bits): chunks and neighbouring seeds do not collide.
    const std::uint64_t own = seed + static_cast<std::uint64_t>(chunk + 1) * 0x9E3779B97F4A7C15;
    fill_chunk(kind, data + first, std::min(kChunk, count - first), own);
  });
}

}  // namespace

std::string_view describe(DataKind kind) {
  switch (kind) {
    case DataKind::kIntegers:
      return "random integers from -4 to 4";
    case DataKind::kZeros:
      return "zeros";
    case DataKind::kNormal:
      break;
  }
  return "random normal, mean 0, variance 1";
}

void fill(DataKind kind, DType dtype, void* data, std::int64_t count, std::uint64_t seed,
          int threads) {
  switch (dtype) {
    case DType::kF64:
      return fill_as(kind, static_cast<double*>(data), count, seed, threads);
    case DType::kBF16:
      return fill_as(kind, static_cast<BFloat16*>(data), count, seed, threads);
    case DType::kF16:
      return fill_as(kind, static_cast<Float16*>(data), count, seed, threads);
    default:
      return fill_as(kind, static_cast<float*>(data), count, seed, threads);
  }
}

}  // namespace tessera::bench
