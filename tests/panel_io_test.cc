// Blocks between files and buffers when a window holds less than a row, or less than an element.
#include "panel/panel_io.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "panel_support.h"

namespace tessera::panel {
namespace {

constexpr std::int64_t kRows = 9, kCols = 23, kLd = 31;
constexpr double kPoison = -777;
// Less than an element, one, a part of a run, one run, several.
constexpr std::int64_t kWindows[] = {1, 8, 40, 200, 1000, 1 << 20};
constexpr Block kBlocks[] = {
    {0, 0, kRows, kCols}, {2, 3, 5, 17}, {8, 22, 1, 1}, {1, 0, 8, 1}, {0, 5, 1, 18}};

/// Elements of a block in a buffer of row pitch kLd that is poison everywhere else.
std::vector<double> expected_buffer(const Block& block) {
  std::vector<double> out(static_cast<std::size_t>(kRows * kLd), kPoison);
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.cols; ++j) {
      out[static_cast<std::size_t>(i * kLd + j)] = exact_value('a', block.row + i, block.col + j);
    }
  }
  return out;
}

TEST(PanelIo, LoadsAnyBlockThroughAnyWindow) {
  Inputs inputs;
  for (const bool fortran : {false, true}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const io::FileMatrix& file = inputs.get('a', kRows, kCols, {dtype, fortran});
      for (const Block& block : kBlocks) {
        for (const std::int64_t window : kWindows) {
          Transfer transfer;
          transfer.threads = 3;
          transfer.window_bytes = window;
          int ticks = 0;
          transfer.tick = [&] { ++ticks; };
          std::vector<double> got(static_cast<std::size_t>(kRows * kLd), kPoison);
          load_block(file, block, got.data(), kLd, transfer);
          EXPECT_EQ(got, expected_buffer(block))
              << (fortran ? "fortran " : "C ") << to_string(dtype) << ", window " << window
              << ", block at " << block.row << ", " << block.col;
          EXPECT_GE(ticks, 1);
        }
      }
    }
  }
}

TEST(PanelIo, StoresAnyBlockThroughAnyWindow) {
  const TempDir dir;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const Block& block : kBlocks) {
      for (const std::int64_t window : kWindows) {
        for (const bool release : {false, true}) {
          io::OutputMatrix out(dir.file("out.npy"), dtype, kRows, kCols);
          const std::vector<double> before(static_cast<std::size_t>(kRows * kCols), kPoison);
          out.write_block(0, 0, kRows, kCols, before.data(), kCols);
          Transfer transfer;
          transfer.window_bytes = window;
          transfer.release_output = release;
          const std::vector<double> in = expected_buffer(block);
          store_block(out, block, in.data(), kLd, transfer);
          std::vector<double> got(before.size()), want = before;
          io::read_block(out.as_input(), 0, 0, kRows, kCols, got.data(), kCols);
          for (std::int64_t i = 0; i < block.rows; ++i) {
            for (std::int64_t j = 0; j < block.cols; ++j) {
              want[static_cast<std::size_t>((block.row + i) * kCols + block.col + j)] =
                  exact_value('a', block.row + i, block.col + j);
            }
          }
          EXPECT_EQ(got, want) << to_string(dtype) << ", window " << window << ", block at "
                               << block.row << ", " << block.col;
        }
      }
    }
  }
}

// Scaling passes through a buffer that a row of this length exceeds.
TEST(PanelIo, ScalesRowsLongerThanItsBuffer) {
  const TempDir dir;
  const std::int64_t n = 150001;
  const auto file = [&](const char* name, std::int64_t rows, std::int64_t cols) {
    write_npy(dir.file(name), rows, cols, {DType::kF64},
              [&](std::int64_t i, std::int64_t j) { return static_cast<double>(i * n + j); });
    return io::open_matrix(dir.file(name));
  };
  const auto a = file("a.npy", 3, 0), b = file("b.npy", 0, n), c0 = file("c.npy", 3, n);
  PanelOptions options;
  options.compute = DType::kF64;
  for (const double beta : {0.0, 0.5}) {
    io::OutputMatrix out(dir.file("out.npy"), DType::kF64, 3, n);
    std::memset(out.data(), 0xff, static_cast<std::size_t>(3 * n) * sizeof(double));
    panel_gemm(Op::kN, Op::kN, 1, a, b, beta, &c0, out, options);
    std::vector<double> got(static_cast<std::size_t>(3 * n)), want(got.size());
    io::read_block(out.as_input(), 0, 0, 3, n, got.data(), n);
    for (std::size_t e = 0; e < want.size(); ++e) want[e] = beta * static_cast<double>(e);
    EXPECT_TRUE(got == want) << beta;
  }
}

}  // namespace
}  // namespace tessera::panel
