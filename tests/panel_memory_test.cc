// How much memory a product in panels has resident, measured in a child process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "panel_support.h"
#include "support/sanitized.h"

namespace tessera::panel {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
// The allocator's own, thread stacks, and what the system's counters lag behind, per thread.
constexpr std::int64_t kProcessBytes = 1 * kMiB;

std::int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return -1;
}

/// Runs `warm_up` and `body` in a child; how far `body` raises the peak of its resident memory, -1
/// when it failed.
std::int64_t peak_growth(const std::function<void()>& warm_up, const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    std::int64_t growth = -1;
    try {
      warm_up();
      const std::int64_t before = status_bytes("VmRSS");
      body();
      growth = status_bytes("VmHWM") - before;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    const bool sent = write(ends[1], &growth, sizeof(growth)) == sizeof(growth);
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::int64_t growth = -1;
  if (read(ends[0], &growth, sizeof(growth)) != sizeof(growth)) growth = -1;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return growth;
}

class PanelMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::kProgramsSanitized) GTEST_SKIP() << "resident memory includes the sanitizer's shadow";
    if (status_bytes("VmHWM") < 0) GTEST_SKIP() << "no VmHWM in /proc/self/status";
  }

  /// A file of zeros, whose header alone is written.
  std::string zeros(const std::string& name, std::int64_t rows, std::int64_t cols, Stored how) {
    const std::string path = dir_.file(name);
    const std::string header = npy_header(rows, cols, how);
    std::ofstream(path, std::ios::binary) << header;
    std::filesystem::resize_file(
        path, header.size() + static_cast<std::uintmax_t>(rows * cols) * size_of(how.dtype));
    return path;
  }

  std::int64_t growth(const std::string& a, const std::string& b, std::int64_t m, std::int64_t n,
                      const PanelOptions& options, Op op_a = Op::kN) {
    const auto multiply = [&](const std::string& left, const std::string& right, std::int64_t rows,
                              std::int64_t cols) {
      io::OutputMatrix out(dir_.file("out.npy"), DType::kF32, rows, cols);
      panel_gemm(op_a, Op::kN, 1, io::open_matrix(left), io::open_matrix(right), 0, nullptr, out,
                 options);
    };
    // What the process needs once, code pages and threads included, is not the product's.
    const std::string small = zeros("small.npy", 64, 64, {DType::kF16});
    return peak_growth([&] { multiply(small, small, 64, 64); }, [&] { multiply(a, b, m, n); });
  }

  TempDir dir_;
};

TEST_F(PanelMemory, BudgetBoundsWhatIsResident) {
  PanelOptions options;
  options.memory_bytes = 16 * kMiB;
  options.gemm.threads = 2;
  for (const bool fortran : {false, true}) {
    // 64 MiB of A.
    const std::string a = zeros("a.npy", 512, 65536, {DType::kF16, fortran});
    const std::string b = zeros("b.npy", 65536, 8, {DType::kF32});
    const std::int64_t grown = growth(a, b, 512, 8, options);
    ASSERT_GE(grown, 0);
    EXPECT_LE(grown, options.memory_bytes + kProcessBytes) << (fortran ? "fortran" : "C");
  }
}

TEST_F(PanelMemory, BudgetBoundsALargeOutput) {
  PanelOptions options;
  options.memory_bytes = 16 * kMiB;
  const std::string a = zeros("a.npy", 4096, 8, {DType::kF32});
  const std::string b = zeros("b.npy", 8, 4096, {DType::kF32});
  const std::int64_t grown = growth(a, b, 4096, 4096, options);  // 64 MiB of C
  ASSERT_GE(grown, 0);
  EXPECT_LE(grown, options.memory_bytes + kProcessBytes);
}

TEST_F(PanelMemory, WithoutABudgetConversionIsBounded) {
  PanelOptions options;
  const std::string a = zeros("a.npy", 512, 65536, {DType::kF16});
  const std::string b = zeros("b.npy", 65536, 8, {DType::kF32});
  const std::int64_t grown = growth(a, b, 512, 8, options);
  ASSERT_GE(grown, 0);
  // 32 MiB of buffers, a window of 4 and 1 beside it; B where it is mapped. A is not resident.
  EXPECT_LE(grown, 37 * kMiB + 2 * kMiB + kProcessBytes);
}

TEST_F(PanelMemory, TheMeasureSeesMappedPages) {
  const std::string a = zeros("a.npy", 512, 32768, {DType::kF32});  // 64 MiB, used in place
  const std::string b = zeros("b.npy", 32768, 8, {DType::kF32});
  EXPECT_GE(growth(a, b, 512, 8, {}), 64 * kMiB);
}

}  // namespace
}  // namespace tessera::panel
