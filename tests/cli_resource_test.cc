// Disk, memory and signals: nothing half-written, nothing left behind, memory as promised.
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "support/cli.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESSERA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TESSERA_SANITIZED 1
#endif
#endif
#ifndef TESSERA_SANITIZED
#define TESSERA_SANITIZED 0
#endif

// Sanitizers reserve terabytes of address space, keep shadows of all memory, and ThreadSanitizer
// holds signals back while a loop computes.
#define SKIP_UNDER_SANITIZERS() \
  if (TESSERA_SANITIZED) GTEST_SKIP() << "memory and signals are not as in a plain build"

namespace tessera::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

using CliResource = CliTest;

TEST_F(CliResource, DiskFull) {
  write_sparse_npy(path("a.npy"), "<f4", 1000, 10, 4);
  write_sparse_npy(path("b.npy"), "<f4", 10, 1000, 4);
  Limits limits;
  limits.file_bytes = kMiB;
  expect_error(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy")}, limits), 4,
               {"c.npy"});
  EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b.npy"}));
}

TEST_F(CliResource, SignalsLeaveNothing) {
  SKIP_UNDER_SANITIZERS();
  // Minutes of work for the naive kernel: the signal always meets it.
  write_sparse_npy(path("a.npy"), "<f4", 6000, 6000, 4);
  write_sparse_npy(path("b.npy"), "<f4", 6000, 6000, 4);
  for (const int number : {SIGINT, SIGTERM}) {
    Limits limits;
    limits.interrupt_with = number;
    limits.watched = path("");
    const Ran ran = run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"),
                                 "--device", "cpu", "--kernel", "cpu.naive", "--verify", "off"},
                                limits);
    expect_error(ran, 130, {"tessera mul: interrupted"});
    EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b.npy"}));
  }
}

TEST_F(CliResource, PeakMemoryIsTheMatricesAndALittle) {
  SKIP_UNDER_SANITIZERS();
  // A 96 MB, B 3 MB, C 96 MB, and f16 inputs, which have to be widened.
  constexpr std::int64_t m = 8192, n = 3072, k = 256;
  for (const auto& [descr, size] : {std::pair{"<f4", 4}, std::pair{"<f2", 2}}) {
    write_sparse_npy(path("a.npy"), descr, m, k, size);
    write_sparse_npy(path("b.npy"), descr, k, n, size);
    const Ran ran =
        run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"), "--device", "cpu"});
    expect_ok(ran);
    const std::int64_t matrices = size * (m * k + k * n) + 4 * m * n;
    EXPECT_LE(ran.max_rss_bytes, matrices + 64 * kMiB) << descr;
    // The measurement itself must see the matrices, or the bound would hold for anything.
    EXPECT_GE(ran.max_rss_bytes, 4 * m * n / 2) << descr;
  }
}

TEST_F(CliResource, MemoryBoundIsKeptOrRefused) {
  SKIP_UNDER_SANITIZERS();
  constexpr std::int64_t m = 16384, n = 2048, k = 512;
  write_sparse_npy(path("a.npy"), "<f4", m, k, 4);
  write_sparse_npy(path("b.npy"), "<f4", k, n, 4);
  const std::vector<std::string> mul = {"mul",         path("a.npy"), path("b.npy"), "-o",
                                        path("c.npy"), "--device",    "cpu",         "--memory"};
  std::vector<std::string> args = mul;
  args.push_back("48M");
  const Ran ran = run_tessera(args);
  expect_ok(ran);
  // A and C alone are 160 MiB. The program itself and its libraries come on top of the bound.
  EXPECT_LE(ran.max_rss_bytes, (48 + 64) * kMiB);
  args.back() = "1K";
  expect_error(run_tessera(args), 4, {"memory"});
}

TEST_F(CliResource, OutOfMemory) {
  SKIP_UNDER_SANITIZERS();
  // Inputs fit into the address space that is left, the result does not.
  write_sparse_npy(path("a.npy"), "<f4", 40000, 8, 4);
  write_sparse_npy(path("b.npy"), "<f4", 8, 40000, 4);
  Limits limits;
  limits.address_bytes = 1024 * static_cast<std::uint64_t>(kMiB);
  limits.file_bytes = std::uint64_t{8} << 30;
  expect_error(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"), "--device",
                            "cpu", "--threads", "1"},
                           limits),
               4, {});
  EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b.npy"}));
}

TEST_F(CliResource, AGigabyteOpensWithoutBeingRead) {
  write_sparse_npy(path("big.npy"), "<f4", 16384, 16384, 4);
  const Ran ran = run_tessera({"show", path("big.npy")});
  expect_ok(ran);
  EXPECT_NE(ran.out.find("16384"), std::string::npos) << ran.out;
  if (!TESSERA_SANITIZED) {
    EXPECT_LE(ran.max_rss_bytes, 64 * kMiB);
  }
}

}  // namespace
}  // namespace tessera::test
