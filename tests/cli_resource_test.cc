// Disk, memory and signals: nothing half-written, nothing left behind, memory as promised.
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/sanitized.h"

// Sanitizers reserve terabytes of address space, keep shadows of all memory, and ThreadSanitizer
// holds signals back while a loop computes.
#define SKIP_UNDER_SANITIZERS() \
  if (kProgramsSanitized) GTEST_SKIP() << "memory and signals are not as in a plain build"

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
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Limits limits;
    limits.interrupt_with = number;
    limits.watched = path("");
    const Ran ran = run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"),
                                 "--device", "cpu", "--kernel", "cpu.naive", "--verify", "off"},
                                limits);
    expect_error(ran, 128 + number, {"tessera mul: interrupted"});
    EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b.npy"}));
  }
}

TEST_F(CliResource, FatalSignalsLeaveNothing) {
  SKIP_UNDER_SANITIZERS();
  write_sparse_npy(path("a.npy"), "<f4", 6000, 6000, 4);
  write_sparse_npy(path("b.npy"), "<f4", 6000, 6000, 4);
  for (const int number : {SIGPIPE, SIGALRM}) {
    Limits limits;
    limits.interrupt_with = number;
    limits.watched = path("");
    const Ran ran = run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"),
                                 "--device", "cpu", "--kernel", "cpu.naive", "--verify", "off"},
                                limits);
    EXPECT_EQ(ran.signal, number) << ran.err;
    EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b.npy"}));
  }
}

TEST_F(CliResource, ClosedDescriptorsDoNotReachTheResult) {
  write_file(path("a.npy"), matrix_npy("<f4", 1, 2, std::vector<float>{1, 2}));
  write_file(path("b.npy"), matrix_npy("<f4", 2, 1, std::vector<float>{3, 4}));
  const std::vector<std::string> mul = {"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy")};
  for (const std::vector<int>& closed :
       {std::vector<int>{0}, std::vector<int>{1}, std::vector<int>{2}, std::vector<int>{0, 1, 2}}) {
    Limits limits;
    limits.closed = closed;
    limits.environment = {"TESSERA_LOG=calls"};  // a line on stderr while the result is open
    const Ran ran = run_tessera(mul, limits);
    EXPECT_EQ(ran.signal, 0);
    // A report that cannot be printed is an error; the result is complete all the same.
    EXPECT_EQ(ran.code, std::count(closed.begin(), closed.end(), 1) > 0 ? 4 : 0) << ran.err;
    EXPECT_EQ(read_npy<float>(path("c.npy"), "<f4", 1, 1), std::vector<float>{11});
  }
}

TEST_F(CliResource, MemoryOfTheCheckDoesNotGrowWithTheRows) {
  SKIP_UNDER_SANITIZERS();
  // The first is checked in full, the second by signs.
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{10'000'000, 1, 1},
                                std::array<std::int64_t, 3>{1'500'000, 17, 17}}) {
    write_sparse_npy(path("a.npy"), "<f4", m, k, 4);
    write_sparse_npy(path("b.npy"), "<f4", k, n, 4);
    const Ran ran =
        run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"), "--device", "cpu"});
    expect_ok(ran);
    EXPECT_LE(ran.max_rss_bytes, 4 * (m * k + k * n + m * n) + 64 * kMiB) << m;
    EXPECT_GE(ran.max_rss_bytes, 4 * m * n / 2);
  }
}

TEST_F(CliResource, NoAddressSpaceForAnInput) {
  SKIP_UNDER_SANITIZERS();
  write_sparse_npy(path("a.npy"), "<f4", 40000, 40000, 4);
  Limits limits;
  limits.address_bytes = 1024 * static_cast<std::uint64_t>(kMiB);
  expect_error(run_tessera({"show", path("a.npy")}, limits), 4, {"a.npy", "cannot map"});
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
  if (!kProgramsSanitized) {
    EXPECT_LE(ran.max_rss_bytes, 64 * kMiB);
  }
}

}  // namespace
}  // namespace tessera::test
