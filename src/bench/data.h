// Numbers to multiply. Zeros, ones and small integers draw less power and so run faster than real
// data; random normal numbers are the default.
#pragma once

#include <cstdint>
#include <string_view>

#include "tessera/precision.h"

namespace tessera::bench {

enum class DataKind { kNormal, kIntegers, kZeros };

/// "random normal, mean 0, variance 1", "random integers from -4 to 4", "zeros".
std::string_view describe(DataKind kind);

/// Fills `count` numbers of type kF32, kF64, kBF16 or kF16, on `threads` threads: the same for the
/// same seed, whatever the threads.
void fill(DataKind kind, DType dtype, void* data, std::int64_t count, std::uint64_t seed,
          int threads);

}  // namespace tessera::bench
