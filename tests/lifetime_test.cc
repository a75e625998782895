// Products in the destructors of static and thread-local objects, when what belongs to the thread
// or the library may be gone already.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tessera/gemm.h"
#include "tessera/tessera.h"

namespace tessera::test {
namespace {

constexpr std::int64_t kSize = 150;

/// A product that needs workspace, of small integers: exact.
bool multiplies() {
  std::vector<float> a(kSize * kSize), b(kSize * kSize), c(kSize * kSize, -1);
  for (std::int64_t i = 0; i < kSize; ++i) {
    for (std::int64_t j = 0; j < kSize; ++j) {
      const auto at = static_cast<std::size_t>(i * kSize + j);
      a[at] = static_cast<float>(i % 5 - 2);
      b[at] = static_cast<float>(j % 7 - 3);
    }
  }
  gemm(Op::kN, Op::kN, 1.0f, row_major<const float>(a.data(), kSize, kSize),
       row_major<const float>(b.data(), kSize, kSize), 0.0f, row_major(c.data(), kSize, kSize));
  for (std::int64_t i = 0; i < kSize; ++i) {
    for (std::int64_t j = 0; j < kSize; ++j) {
      const auto exact = static_cast<float>(kSize * (i % 5 - 2) * (j % 7 - 3));
      if (!(c[static_cast<std::size_t>(i * kSize + j)] == exact)) return false;
    }
  }
  return true;
}

/// A refused call, whose message is longer than any string keeps without allocating.
bool refuses() {
  float x = 0;
  const tessera_status status = tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1,
                                              -5, 1, &x, 1, &x, 1, 0, &x, 1, nullptr);
  return status == TESSERA_INVALID_ARGUMENT && std::strlen(tessera_last_error()) > 30;
}

struct AtEnd {
  bool* result;
  ~AtEnd() { *result = multiplies() && refuses(); }
};

TEST(Lifetime, ThreadLocalDestructors) {
  bool result = false;
  std::thread([&result] {
    // Made first, so destroyed last.
    thread_local AtEnd at_end{&result};
    EXPECT_EQ(at_end.result, &result);
    EXPECT_TRUE(multiplies());
    EXPECT_TRUE(refuses());
  }).join();
  EXPECT_TRUE(result);
}

TEST(Lifetime, LongMessagesLoseTheirEnd) {
  const std::string name(5000, 'k');
  tessera_options options;
  tessera_options_init(&options);
  options.kernel = name.c_str();
  float x[3] = {2, 3, 0};
  EXPECT_EQ(tessera_sgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 1, 1, 1, 1, x, 1, x + 1, 1,
                          0, x + 2, 1, &options),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(std::strlen(tessera_last_error()), 1023U);
}

// Made before main(), so before anything that the library makes when it is first used.
struct AtExit {
  bool used = false;
  ~AtExit() {
    if (!used || (multiplies() && refuses())) return;
    std::fputs("a product at the end of the process was wrong\n", stderr);
    std::_Exit(1);
  }
};
AtExit g_at_exit;

TEST(Lifetime, StaticDestructors) {
  EXPECT_TRUE(multiplies());
  EXPECT_TRUE(refuses());
  g_at_exit.used = true;  // the rest of the test comes after main()
}

}  // namespace
}  // namespace tessera::test
