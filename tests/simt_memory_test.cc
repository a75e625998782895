// Whether a product fits into memory, which is told before anything runs.
#include "simt/memory_need.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace tessera::simt::test {
using tessera::test::error_of;

namespace {

MemoryNeed need(std::int64_t m, std::int64_t n, std::int64_t k) {
  MemoryNeed need;
  need.sizes = {m, n, k};
  need.max_accesses = 400'000'000;
  return need;
}

TEST(MemoryNeed, GrowsWithTheMatrices) {
  // At least the floats, their flags and a cell of shadow for each.
  const double small = bytes_needed(need(512, 512, 512));
  EXPECT_GE(small, 3 * 512 * 512 * (4 + 4 + 38));
  EXPECT_LE(small, 3 * 512 * 512 * 100.0);
  EXPECT_GT(bytes_needed(need(512, 512, 600)), small);
  MemoryNeed more = need(512, 512, 512);
  more.has_d = true;
  EXPECT_GT(bytes_needed(more), small);
  more = need(512, 512, 512);
  more.counts = true;
  EXPECT_GT(bytes_needed(more), small);
}

TEST(MemoryNeed, SamplesTouchLittle) {
  MemoryNeed watched = need(8192, 8192, 8192), sampled = watched;
  watched.max_accesses = ~std::uint64_t{0};
  EXPECT_GT(bytes_needed(watched), 3 * bytes_needed(sampled));
  EXPECT_GE(bytes_needed(sampled), 3 * 8192.0 * 8192.0 * 8);
}

TEST(MemoryNeed, SaysWhatIsMissing) {
  EXPECT_NO_THROW(check_memory(need(64, 64, 64), 1e9));
  EXPECT_NO_THROW(check_memory(need(1 << 20, 1 << 20, 1), 0)) << "the system does not say";
  const std::string message = error_of(
      ErrorCode::kOutOfMemory, [] { check_memory(need(1 << 20, 1 << 20, 7), 16.0 * (1 << 30)); });
  EXPECT_SAYS(message, "--gemm 1048576,1048576,7");
  EXPECT_SAYS(message, "12.0 GiB of 16.0 GiB");
  EXPECT_GT(bytes_available(), 1e6);
}

}  // namespace
}  // namespace tessera::simt::test
